//! What a dead host looks like to those who talk to it: every packet to and from a port vanishes.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// Drops packets until its standard input ends, however this process ends: then it takes the rules away again.
const GUARD: &str = r#"
trap '' INT TERM HUP
rule() { iptables -w "$1" INPUT -i lo -p tcp "$2" "$port" -j DROP; }
port=$1
rule -I --dport && rule -I --sport && echo down
read -r word
rule -D --dport
rule -D --sport
"#;

/// Packets to and from a port of the loopback device vanish for as long as this lives.
#[derive(Debug)]
pub struct PortDown {
    guard: Child,
    lifeline: Option<ChildStdin>,
}

impl PortDown {
    /// Whether this can be done here.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn check() -> Result<()> {
        ensure!(nix::unistd::geteuid().is_root(), "a dead host is made with iptables, which needs root");
        let found = Command::new("iptables").arg("--version").output();
        ensure!(
            found.is_ok_and(|output| output.status.success()),
            "a dead host is made with iptables, which is not installed (Debian: apt-get install iptables)"
        );
        Ok(())
    }

    /// Lets packets vanish from now on.
    ///
    /// # Errors
    /// When iptables refuses.
    pub fn new(port: u16) -> Result<Self> {
        Self::check()?;
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard", &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A Ctrl-C at the terminal is not for the one that cleans up after it.
            .process_group(0)
            .spawn()
            .context("starting sh")?;
        let lifeline = guard.stdin.take();
        let said = guard.stdout.take().context("the guard's output")?;
        let down = Self { guard, lifeline };
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line).context("waiting for iptables")?;
        if line.trim() != "down" {
            bail!("iptables refused to drop packets of port {port}");
        }
        Ok(down)
    }
}

impl Drop for PortDown {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // Nothing to be done about a guard that cannot be waited for.
        _ = self.guard.wait();
    }
}

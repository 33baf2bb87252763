//! Runs the command in a directory of its own, and ends what it started.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Far more than anything here takes; a command that is not done by then hangs.
const LIMIT: Duration = Duration::from_secs(300);

const MILENA: &str = env!("CARGO_BIN_EXE_milena");

/// The real records that the README produces.
pub(crate) fn earthquakes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/earthquakes.jsonl")
}

pub(crate) fn earthquake_lines() -> Vec<String> {
    let text = std::fs::read_to_string(earthquakes()).expect("examples/data/earthquakes.jsonl");
    text.lines().map(str::to_owned).collect()
}

/// A place with a data directory that nobody else uses.
pub(crate) struct Place {
    dir: TempDir,
    data: PathBuf,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A command that runs. It is killed when dropped.
pub(crate) struct Running {
    child: Option<Child>,
    pid: Pid,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with_data("data")
    }

    /// With a data directory of this name.
    pub(crate) fn with_data(name: impl Into<PathBuf>) -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory"), data: name.into() }
    }

    /// The data directory of the commands that run here.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join(&self.data)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path
    }

    fn command<S: AsRef<OsStr>>(&self, program: &str, args: &[S]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).env("MILENA_DATA", self.data());
        command.env_remove("MILENA_BOOTSTRAP").env_remove("RUST_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a command; what it prints is kept until it is asked for.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: &[S]) -> Running {
        Running::new(self.command(MILENA, args))
    }

    /// As [`start`](Self::start), as `nohup` does it: SIGHUP is ignored from the beginning.
    pub(crate) fn start_with_nohup(&self, args: &[&str]) -> Running {
        let script = ["-c", "trap '' HUP; exec \"$0\" \"$@\"", MILENA];
        Running::new(self.command("sh", &[&script[..], args].concat()))
    }

    /// Runs a command to its end, with this on its standard input.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, args: &[S], input: impl AsRef<[u8]>) -> Finished {
        let mut running = self.start(args);
        let (mut stdin, input) = (running.stdin(), input.as_ref().to_vec());
        let feeder = thread::spawn(move || {
            // A command may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let finished = running.finish();
        feeder.join().expect("the feeder");
        finished
    }

    /// Runs a command to its end, without input.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Finished {
        self.run_with(args, "")
    }

    /// Runs a command that must succeed, and gives its standard output.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.run(args).ok()
    }

    /// Waits until some command serves the data directory.
    pub(crate) fn until_a_broker_runs(&self) {
        let deadline = Instant::now() + LIMIT;
        while milena_broker::running(&self.data()).is_none() {
            assert!(Instant::now() < deadline, "no broker came up");
            thread::yield_now();
        }
    }

    /// Starts a cluster of three here, and waits until it serves.
    pub(crate) fn cluster(&self) -> (Running, String) {
        let session = ["-X", "broker.session.timeout.ms=500"];
        let mut cluster = self.start(&[&["broker", "--brokers", "3", "--port", "0"][..], &session].concat());
        let bootstrap = cluster.first_line();
        assert_eq!(bootstrap.split(',').count(), 3, "{bootstrap}");
        (cluster, bootstrap)
    }

    /// Starts `milena broker` here, and waits until it serves.
    pub(crate) fn broker(&self, port: &str) -> (Running, String) {
        let mut broker = self.start(&["broker", "--port", port]);
        let bootstrap = broker.first_line();
        assert!(bootstrap.starts_with("127.0.0.1:"), "{bootstrap}");
        (broker, bootstrap)
    }
}

impl Finished {
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert!(self.status.success(), "{}\n{}", self.status, self.stderr);
        String::from_utf8(self.stdout).expect("UTF-8")
    }

    /// The only line on standard error of a command that ended with this code.
    #[track_caller]
    pub(crate) fn error(self, code: i32) -> String {
        let stdout = String::from_utf8_lossy(&self.stdout).into_owned();
        assert_eq!(self.status.code(), Some(code), "{}{stdout}", self.stderr);
        let text = self.stderr.trim_end().to_owned();
        assert!(code == 2 || text.lines().count() == 1, "one line: {text}");
        text
    }
}

impl Running {
    fn new(mut command: Command) -> Self {
        let child = command.spawn().expect("the command starts");
        let pid = Pid::from_child(&child);
        Self { child: Some(child), pid }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it has not been waited for")
    }

    pub(crate) fn id(&self) -> String {
        self.pid.as_raw_nonzero().to_string()
    }

    /// Its standard input; closed when dropped.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.child().stdin.take().expect("standard input was not taken before")
    }

    /// Waits for the first line of its output, and keeps on reading, so that it never waits for us.
    pub(crate) fn first_line(&mut self) -> String {
        self.lines().next().expect("a line")
    }

    /// The lines of its output, each waited for. All are read, so that it never waits for us.
    pub(crate) fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let stdout = self.child().stdout.take().expect("its output was not taken before");
        let mut stderr = self.child().stderr.take().expect("its errors were not taken before");
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        lines_of(stdout)
    }

    /// Waits for the first line of its errors, and keeps on reading.
    pub(crate) fn first_error(&mut self) -> String {
        let stderr = self.child().stderr.take().expect("its errors were not taken before");
        lines_of(stderr).next().expect("a line")
    }

    /// Reads so many bytes of its output, and closes it.
    pub(crate) fn read_and_close(&mut self, bytes: usize) -> Vec<u8> {
        let mut stdout = self.child().stdout.take().expect("its output was not taken before");
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut start = vec![0; bytes];
            let read = stdout.read_exact(&mut start);
            let _ = tell.send(read.map(|()| start));
        });
        told.recv_timeout(LIMIT).expect("output in time").expect("as many bytes")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("the process is there");
    }

    /// SIGKILL, as a crash.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Finished {
        let mut child = self.child.take().expect("it has not been waited for");
        drop(child.stdin.take());
        let (tell, told) = mpsc::channel();
        thread::spawn(move || tell.send(child.wait_with_output()));
        let Ok(output) = told.recv_timeout(LIMIT) else {
            let _ = kill_process(self.pid, Signal::KILL);
            panic!("the command hangs");
        };
        let output = output.expect("its output");
        Finished {
            status: output.status,
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lines, each waited for; all are read.
fn lines_of(stream: impl std::io::Read + Send + 'static) -> impl Iterator<Item = String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let _ = tell.send(line);
        }
    });
    let next = move || match told.recv_timeout(LIMIT) {
        Ok(line) => Some(line.expect("readable output").trim_end().to_owned()),
        Err(mpsc::RecvTimeoutError::Disconnected) => None,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("no line in time"),
    };
    std::iter::from_fn(next)
}

//! Against kcat, where it is installed.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use crate::support::Place;

/// Runs kcat; None where there is none. On CI there is one.
fn kcat(bootstrap: &str, args: &[&str], input: &[u8]) -> Option<Output> {
    let mut command = Command::new("kcat");
    command.args(["-q", "-b", bootstrap]).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(mut child) => {
            child.stdin.take().unwrap().write_all(input).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(output)
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "kcat: {error}");
            None
        }
    }
}

#[test]
fn formats_print_what_kcat_prints() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    let headers = ["-H", "a=1", "-H", "empty=", "-H", "null", "-H", "a=2"];
    let args = ["produce", "-b", &bootstrap, "-t", "t", "-K", ":"];
    place.run_with(&[&args[..], &headers].concat(), b"k:v\nno key\nu\xcc\x88:\xff\xfe\x00x\n").ok();
    place.run_with(&args, b"plain:w\n").ok();
    for format in [
        r"%s\n",
        r"%t %p %o %T %K %k %S %s %h\n",
        r"%R%s",
        r"100%% \x41\t\r\\%o\n",
        r"Topic %t [%p] at offset %o: key %k: %s\n",
    ] {
        let Some(theirs) = kcat(&bootstrap, &["-C", "-t", "t", "-e", "-o", "beginning", "-f", format], b"")
        else {
            return;
        };
        let ours = place.run(&["consume", "-b", &bootstrap, "-t", "t", "-e", "-f", format]);
        let (ours, theirs) = (String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&theirs.stdout));
        assert_eq!(ours, theirs, "{format}");
    }
}

#[test]
fn kcat_produces_what_we_consume() {
    let place = Place::new();
    let (_broker, bootstrap) = place.broker("0");
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let args = ["-P", "-t", "t", "-K", ":", "-H", "h=1", "-z", codec];
        if kcat(&bootstrap, &args, format!("{codec}:payload\n").as_bytes()).is_none() {
            return;
        }
    }
    let back = place.ok(&["consume", "-b", &bootstrap, "-t", "t", "-e", "-f", r"%k %s %h\n"]);
    let expected = ["none", "gzip", "snappy", "lz4", "zstd"].map(|codec| format!("{codec} payload h=1\n"));
    assert_eq!(back, expected.concat());
}

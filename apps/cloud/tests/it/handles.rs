//! The limit on file handles: raised at start, and `connections` fitted to it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::process::{address, ended, run};

/// Starts the program under a soft and a hard limit on file handles.
fn limited(folder: &Path, soft: u32, hard: u32) -> Child {
    let plain = run(folder);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\""));
    command.arg(plain.get_program()).args(plain.get_args()).arg("--exit-with-stdin");
    command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the soft limit of a process.
fn soft_limit(process: u32) -> u64 {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn reductions(log: &str) -> usize {
    log.lines().filter(|line| line.contains("connections is reduced")).count()
}

#[test]
fn the_soft_limit_is_raised_to_the_hard_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = limited(folder.path(), 256, 8192);
    address(folder.path());
    assert_eq!(soft_limit(child.id()), 8192);
    drop(child.stdin.take());
    let (output, log) = ended(child);
    assert!(output.status.success(), "{log}");
    assert_eq!(reductions(&log), 0, "8192 handles are enough for the default: {log}");
}

/// More connections than there are handles: the surplus waits outside, and the first ones are answered.
#[test]
fn connections_beyond_the_handles_are_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = limited(folder.path(), 160, 160);
    let address = address(folder.path());
    let mut all: Vec<TcpStream> = (0..170).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let first = &mut all[0];
    first.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    first.write_all(b"GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    first.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop((all, child.stdin.take()));
    let (output, log) = ended(child);
    assert!(output.status.success(), "{log}");
    assert!(!log.contains("no connection can be accepted"), "{log}");
    assert_eq!(reductions(&log), 1, "{log}");
}

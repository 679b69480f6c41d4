//! Memory that a load took is given back after it.

use std::time::Duration;

use crate::process::{address, ended, run};

/// Senders at the same time, and requests of each.
const SENDERS: usize = 16;
const REQUESTS: usize = 8;
/// Bytes of a request: nearly the largest upload.
const BYTES: usize = 8_000_000;
/// Bytes that may stay.
const MOST_LEFT: u64 = 32 << 20;

/// Returns the memory of a process in bytes.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn memory_of_large_uploads_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = run(folder.path()).arg("--exit-with-stdin").env("RUST_LOG", "warn").spawn().unwrap();
    let url = format!("http://{}/v1/envelopes", address(folder.path()));
    let (before, body) = (resident(child.id()), vec![0x73; BYTES]);
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                let config = ureq::Agent::config_builder().http_status_as_error(false);
                let agent = config.timeout_global(Some(Duration::from_secs(60))).build().new_agent();
                for _ in 0..REQUESTS {
                    let answer = agent.post(&url).header("idempotency-key", "kitchen.load.0").send(&body);
                    assert_eq!(answer.unwrap().status(), 400);
                }
            });
        }
    });
    let after = resident(child.id());
    assert!(after < before + MOST_LEFT, "{} MiB before, {} MiB after", before >> 20, after >> 20);
    drop(child.stdin.take());
    assert!(ended(child).0.status.success());
}

use std::time::Instant;

use super::super::{made, mirror};
use super::*;

fn trusted() -> Trusted {
    let keys = SigningKeys {
        present: made::identity().verifying_key(),
        encryption: BTreeSet::new(),
        earlier: Vec::new(),
    };
    Trusted { pinned: CloudKeys::parse(&[]).unwrap(), keys, forgotten: HashSet::new() }
}

const NAME: StreamName<'static> = StreamName { device: "cellar", stream: "tank" };

fn cloud(url: &str) -> Cloud {
    Cloud::new(url, "0123456789abcdef0123456789abcdef").unwrap()
}

#[test]
fn a_log_is_mirrored_and_its_windows_are_read_again() {
    let windows = made::windows(1000, 64, true);
    let (url, _) = made::serve(&windows);
    let (cloud, mut log) = (cloud(&url), StreamLog::default());
    follow(&cloud, NAME, &trusted(), &mut log).unwrap();
    assert_eq!(log.len(), 1000);
    let leaves = Leaves { cloud: &cloud, name: NAME };
    // The cloud of this test gives whole pages.
    let positions: Vec<u64> = vec![0, 1, 63];
    for (position, named) in positions.iter().zip(leaves.at(&log, &positions).unwrap()) {
        assert_eq!(named.leaf, windows[*position as usize].signed_header().leaf());
        assert_eq!(named.id.unwrap()[..8], position.to_le_bytes());
    }
    assert!(leaves.at(&log, &[1000]).is_err(), "no window");
    // Another key than the device's.
    let mut other = trusted();
    other.keys.present = [3; 32];
    let refused = follow(&cloud, NAME, &other, &mut StreamLog::default());
    assert!(matches!(refused, Err(OwnerError::Lie(Lie::ChangedWindow { sequence: 0, .. }))), "{refused:?}");
    // Of another log: the leaves that are read are not those that were.
    let (other, _) = made::serve(&made::windows(1000, 1, false));
    let changed = Leaves { cloud: &super::tests::cloud(&other), name: NAME }.at(&log, &[5]);
    assert!(matches!(changed, Err(OwnerError::Lie(Lie::ChangedLog { .. }))), "{changed:?}");
}

/// Times a mirror of 10^6 windows, or of `SOTTO_WINDOWS`.
#[test]
#[ignore = "takes minutes: cargo test --release -p sotto-owner --lib -- --ignored --nocapture mirror_is_made"]
fn a_mirror_is_made() {
    let count = std::env::var("SOTTO_WINDOWS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    for (grouped, receipts) in [(64, false), (64, true), (1, true)] {
        let windows = made::windows(count, grouped, receipts);
        let (url, bytes) = made::serve(&windows);
        drop(windows);
        let (cloud, mut log) = (cloud(&url), StreamLog::default());
        let begin = Instant::now();
        follow(&cloud, NAME, &trusted(), &mut log).unwrap();
        let made = begin.elapsed();
        let begin = Instant::now();
        assert_eq!(receipts_fit(&log), None);
        let compared = begin.elapsed();
        let file = mirror::write(&mut log);
        let tail = log.tree().tail().to_vec();
        let begin = Instant::now();
        assert_eq!(blake3::hash(&file), log.coder.digest.finalize());
        let read = mirror::read(&file, tail).unwrap();
        let opened = begin.elapsed();
        assert_eq!(read.tree().root(), log.tree().root());
        let memory = read.memory() as f64 + 32.0 * count as f64 / mirror::BLOCK as f64;
        println!(
            "{count} windows in groups of {grouped}, receipts {receipts}: {:.1} bytes a window on the way, made in {:.2} s, receipts compared \
             in {:.3} s, {:.2} bytes a window on disk, read again in {:.4} s, {:.1} MB of memory",
            bytes as f64 / count as f64,
            made.as_secs_f64(),
            compared.as_secs_f64(),
            file.len() as f64 / count as f64,
            opened.as_secs_f64(),
            memory / 1e6,
        );
    }
}

fn receipts_fit(log: &StreamLog) -> Option<u64> {
    receipts::first_other(log, 0)
}

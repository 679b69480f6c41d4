use chacha20poly1305::aead::KeyInit;

use super::*;

fn key(of: &str) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&blake3::derive_key("test", of.as_bytes()).into())
}

/// Appends the same rows for each of these devices.
fn append(journal: &ReadingsJournal, devices: &[&str], rows: &[u8]) -> io::Result<u64> {
    let channels: Arc<str> = Arc::from("flow");
    let keys: Vec<XChaCha20Poly1305> = devices.iter().map(|device| key(device)).collect();
    let accepted = devices.iter().zip(&keys);
    let accepted = accepted.map(|(device, cipher)| Accepted {
        device: DeviceId::of(device),
        cipher,
        channels: &channels,
        rows,
    });
    journal.append(&accepted.collect::<Vec<_>>())
}

/// Returns the rows of a device, and how many names of channels came before them.
fn rows(journal: &ReadingsJournal, device: &str, from: u64) -> (Vec<(u64, Vec<u8>)>, usize) {
    let (mut found, mut names) = (Vec::new(), 0);
    let wanted = DeviceId::of(device);
    journal
        .read_from(
            from,
            |device| *device == wanted,
            |head, open| {
                let clear = open(&key(device)).expect("its own key");
                match head.kind {
                    Kind::Channels => names += 1,
                    Kind::Rows => found.push((head.batch, clear.to_vec())),
                }
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    (found, names)
}

#[test]
fn records_come_back_in_order_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let journal = ReadingsJournal::open(folder.path()).unwrap();
    assert_eq!(append(&journal, &["a", "b"], b"1").unwrap(), 0);
    assert_eq!(append(&journal, &["b"], b"2").unwrap(), 1);
    drop(journal);
    let journal = ReadingsJournal::open(folder.path()).unwrap();
    assert_eq!(append(&journal, &["a"], b"3").unwrap(), 2);
    assert_eq!(rows(&journal, "a", 0), (vec![(0, b"1".to_vec()), (2, b"3".to_vec())], 2));
    assert_eq!(rows(&journal, "b", 1), (vec![(1, b"2".to_vec())], 1));
    let found = fs::read_dir(folder.path()).unwrap().map(|file| fs::metadata(file.unwrap().path()).unwrap());
    let bytes: u64 = found
        .map(|metadata| {
            #[cfg(unix)]
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o600);
            metadata.len()
        })
        .sum();
    assert_eq!(journal.bytes(), bytes);
}

/// A kill tears the last record at any byte: the ones before it are whole, and the next run goes on behind them.
#[test]
fn a_torn_end_loses_no_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let journal = ReadingsJournal::open(folder.path()).unwrap();
    append(&journal, &["a"], b"first").unwrap();
    append(&journal, &["a"], b"second").unwrap();
    drop(journal);
    let path = Segment::path(folder.path(), 0);
    let whole = fs::read(&path).unwrap();
    let last = OVERHEAD + b"second".len();
    for cut in 1..=last {
        for zeros in [0, 9] {
            // A crash may leave the length of a file without its bytes.
            fs::write(&path, [&whole[..whole.len() - cut], &vec![0; zeros]].concat()).unwrap();
            let journal = ReadingsJournal::open(folder.path()).unwrap();
            assert_eq!(rows(&journal, "a", 0).0, [(0, b"first".to_vec())], "{cut} {zeros}");
            append(&journal, &["a"], b"third").unwrap();
            assert_eq!(rows(&journal, "a", 0).0.last().unwrap().1, b"third", "{cut} {zeros}");
            let next = Segment::path(folder.path(), journal.next_batch() - 1);
            drop(journal);
            fs::remove_file(next).unwrap();
        }
    }
}

#[test]
fn files_go_once_no_device_needs_them_and_shrink_before() {
    let folder = tempfile::tempdir().unwrap();
    let journal = ReadingsJournal::with_segments(folder.path(), 2 << 20).unwrap();
    let long = vec![7; 100 << 10];
    append(&journal, &["slow"], b"kept").unwrap();
    for _ in 0..50 {
        append(&journal, &["quick"], &long).unwrap();
    }
    let files = || fs::read_dir(folder.path()).unwrap().count();
    assert!(files() >= 3);
    journal.trim(false).unwrap();
    assert!(journal.bytes() > 50 * (100 << 10));
    journal.settle(DeviceId::of("quick"), journal.next_batch());
    journal.trim(false).unwrap();
    assert_eq!(files(), 1, "the first has a record of the slow device");
    assert!(journal.bytes() < 3 << 20);
    assert_eq!(rows(&journal, "slow", 0).0, [(0, b"kept".to_vec())]);
    drop(journal);
    let journal = ReadingsJournal::open(folder.path()).unwrap();
    assert_eq!(rows(&journal, "slow", 0), (vec![(0, b"kept".to_vec())], 1));
    for device in ["slow", "quick"] {
        journal.settle(DeviceId::of(device), journal.next_batch());
    }
    journal.trim(true).unwrap();
    assert_eq!((files(), journal.bytes()), (0, 0));
}

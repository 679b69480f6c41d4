//! Sealing beside bodies that are dropped, and roll-ups of a store of an earlier version.

use std::path::Path;
use std::sync::Arc;

use sotto_api::Condition;
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_sums::TAG_BYTES;
use sotto_wire::{Envelope, MaskName, RollUp, StreamHeader, SumsStream};

use super::super::dropped::StoredBytes;
use super::super::{EarlierUpload, New, NewDevice, Opening, RolledUp, Source, Store, Summed, Upload};
use super::*;
use crate::id::Id;
use crate::store::Sealing;
use sotto_segment::Kind;

const TICKS: u32 = 4;
const MINUTE: u32 = 60_000;

struct Stand {
    store: Store,
    identity: SigningIdentity,
    header: Arc<StreamHeader>,
}

impl Stand {
    fn new(folder: &Path) -> Self {
        let channel =
            Channel { name: "load".into(), maximum: 1000.0, resolution: Some(1.0), ..Channel::default() };
        let quantities = vec![Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 }];
        let stream = SumsStream {
            device: "kitchen".into(),
            stream: "load".into(),
            period: Period::from_milliseconds(MINUTE),
            ticks: TICKS,
            channels: vec![channel],
            rounded: false,
            parts: vec![SumsPart { quantities, reasons: 0 }],
        };
        let header = Arc::new(StreamHeader::of_sums(stream, |_| KeyId([8; 16])).unwrap());
        let (store, identity) =
            (Store::open(folder, Opening::Serve).unwrap(), SigningIdentity::from_bytes(&[6; 32]));
        let device = NewDevice {
            name: "kitchen",
            verifying_key: &identity.verifying_key(),
            keys: &[(ParameterId(*header.stream_id().unwrap()), header.key())],
            streams: &[(*header).clone()],
            record: None,
            source: Source::Request { condition: Condition::New, from: "::1" },
        };
        store.register_device(&device).unwrap();
        Self { store, identity, header }
    }

    /// Stores windows with bodies of zeros. Returns the id of the last one.
    fn keep(&self, numbers: std::ops::Range<u64>, is_piece: bool) -> Id {
        let header = &self.header;
        for number in numbers.clone() {
            let at = number as i64 * i64::from(TICKS * MINUTE);
            let period = Period::from_milliseconds(MINUTE);
            let description = WindowDescription {
                provisional: is_piece,
                ..WindowDescription::whole(header.layout(), at, period, TICKS)
            };
            let bytes = header.sums_form(0).unwrap().body_bytes(TICKS) + TAG_BYTES;
            let name = MaskName { salt: [9; 12], sequence: number };
            let sign = |message: &[u8]| self.identity.sign(message);
            let envelope =
                Envelope::sign_sums(header, number, name, description, &vec![0; bytes], sign).unwrap();
            let (bytes, idempotency_key) = (envelope.write(), envelope.header().upload_key());
            let digest = sotto_wire::message_digest(&bytes).unwrap();
            let upload = Upload { envelope, idempotency_key, bytes, digest, receipt_digest: digest };
            let new = New {
                uploads: Arc::new(vec![upload]),
                new: vec![0],
                verifying_key: self.identity.verifying_key(),
                checked_at: 0,
            };
            let kept = self.store.keep_envelopes(new).unwrap();
            assert!(matches!(kept.as_deref(), Ok([EarlierUpload::New(_)])));
        }
        Id::of_window(header.id().tag(), numbers.end - 1)
    }

    fn kind(&self, number: u64) -> Kind {
        let connection = self.store.connection();
        self.store.sealed(&connection, "kitchen", "load", number).unwrap().unwrap().kind()
    }

    fn sum_of(&self, number: u64) -> Vec<u8> {
        let connection = self.store.connection();
        self.store.sealed(&connection, "kitchen", "load", number).unwrap().unwrap().sum().to_vec()
    }

    /// Orders a sum in place of the bodies of windows, which are at the positions of their numbers.
    fn roll_up(&self, from: u64, to: u64) -> RolledUp {
        let tree = frontier(&self.store.connection(), "kitchen", "load").unwrap();
        let (size, root) = (tree.size(), tree.root());
        let order = RollUp { stream: "load".to_owned(), size, root, groups: vec![vec![(from, to)]] };
        let groups = self.store.to_roll_up("kitchen", &order).unwrap();
        let sums = format!("the sum of {from} to {to}").into_bytes();
        let summed: Vec<Summed> =
            groups.into_iter().map(|group| Summed { group, sums: sums.clone() }).collect();
        self.store.keep_roll_ups(&summed).unwrap()
    }

    fn damage(&self) -> Vec<String> {
        self.store.check(false, |_| ()).unwrap().damage
    }
}

#[test]
fn a_body_that_is_dropped_while_its_segment_is_written_is_in_no_segment() {
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand::new(folder.path());
    let piece = stand.keep(0..1, true);
    stand.keep(1..4, false);
    let files = || std::fs::read_dir(folder.path().join("segments")).unwrap().count();
    // The segment is written, and then the body is dropped.
    let written = stand.store.write_some(Sealing::Everything).unwrap().unwrap();
    stand.store.drop_body(&piece.to_string()).unwrap();
    assert_eq!((stand.store.name_some(written).unwrap(), files()), (None, 0));
    assert!(matches!(stand.store.envelope_bytes(piece), Ok(StoredBytes::Head(_))));
    // Again, without its body.
    assert_eq!(stand.store.seal(Sealing::Everything).unwrap(), 4);
    assert_eq!((0..4).map(|number| stand.kind(number)).collect::<Vec<_>>()[..2], [Kind::Head, Kind::Whole]);
    assert_eq!((stand.damage(), files()), (Vec::<String>::new(), 1));
}

#[test]
fn a_body_that_is_dropped_after_it_was_sealed_is_dropped_there() {
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand::new(folder.path());
    let piece = stand.keep(0..1, true);
    stand.keep(1..4, false);
    stand.store.seal(Sealing::Everything).unwrap();
    stand.store.drop_body(&piece.to_string()).unwrap();
    assert_eq!(stand.kind(0), Kind::Head);
    assert_eq!(stand.damage(), Vec::<String>::new());
}

#[test]
fn sums_that_are_rows_alone_come_into_segments() {
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand::new(folder.path());
    for from in [0, 10, 20] {
        stand.keep(from..from + 10, false);
        stand.store.seal(Sealing::Everything).unwrap();
    }
    assert_eq!((stand.roll_up(2, 12).windows, stand.roll_up(14, 18).windows), (10, 4));
    let sums = [2, 14].map(|number| stand.sum_of(number));
    assert!(sums.iter().all(|sum| !sum.is_empty()));
    // As an earlier version wrote them.
    let store = &stand.store;
    store
        .transaction(|transaction| {
            let mut rewriting = Rewriting::default();
            for number in [2, 14] {
                let log = runs::log_of(transaction, "kitchen", "load")?.unwrap();
                let run = runs::run_of(transaction, log, number)?.unwrap();
                rewriting.put_sum(&run, number, Vec::new());
            }
            store.rewrite(transaction, &rewriting)?;
            transaction.execute("UPDATE roll_ups SET sealed = 0", [])?;
            Ok(())
        })
        .unwrap();
    assert!([2, 14].iter().all(|number| stand.sum_of(*number).is_empty()));
    store.seal(Sealing::All).unwrap();
    assert_eq!([2, 14].map(|number| stand.sum_of(number)), sums);
    assert_eq!(stand.damage(), Vec::<String>::new());
    let files = std::fs::read_dir(folder.path().join("segments")).unwrap().count();
    assert_eq!(files, 3, "the earlier ones are removed");
}

#[test]
fn a_group_that_lacks_windows_of_a_sum_leaves_it() {
    let folder = tempfile::tempdir().unwrap();
    let stand = Stand::new(folder.path());
    stand.keep(0..20, false);
    stand.store.seal(Sealing::Everything).unwrap();
    assert_eq!(stand.roll_up(2, 12).windows, 10);
    let sum = stand.sum_of(2);
    assert_eq!((stand.roll_up(4, 14).windows, stand.roll_up(2, 8).windows), (0, 0));
    assert_eq!((stand.sum_of(2), stand.kind(13)), (sum, Kind::Whole));
    assert_eq!(stand.roll_up(0, 14).windows, 4);
    assert!(stand.sum_of(2).is_empty() && !stand.sum_of(0).is_empty());
    assert_eq!(stand.damage(), Vec::<String>::new());
}

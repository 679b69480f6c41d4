//! Sums of a fleet as bytes.

use sotto_pack::FleetId;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{FleetForm, FleetSum, FleetSums, WireError};

fn sums() -> FleetSums {
    // Three places of 5 bits take 15 bits, of which the last byte's highest is free.
    let sum = |windows, first, places, body: &[u8]| FleetSum { windows, first, places, body: body.to_vec() };
    FleetSums {
        form: FleetForm { parameters: ParameterId([1; 32]), places: 3, width: 5 },
        fleet: FleetId([2; 16]),
        start: 1_795_000_000_000,
        keys: [9, 3, 7].map(|byte| KeyId([byte; 16])).to_vec(),
        sums: vec![sum((0, 3), 0, 3, &[0xff, 0x7f]), sum((1, 2), 2, 1, &[0x1f])],
    }
}

#[test]
fn sums_come_back_and_have_one_form() {
    let bytes = sums().write().unwrap();
    assert_eq!(bytes.len(), FleetSums::frame_bytes(3, 2, 3));
    assert_eq!(FleetSums::read(&bytes, bytes.len() as u64).unwrap(), sums());
    let short = bytes.len() as u64 - 1;
    assert!(matches!(FleetSums::read(&bytes, short), Err(WireError::TooLarge { .. })));
    // Every change under a new, valid digest is refused or reads as another canonical object.
    let end = bytes.len() - 32;
    for bit in 0..8 * (end - 16) {
        let mut changed = bytes[..end].to_vec();
        changed[16 + bit / 8] ^= 1 << (bit % 8);
        let digest = blake3::hash(&changed);
        changed.extend_from_slice(digest.as_bytes());
        if let Ok(read) = FleetSums::read(&changed, 1 << 16) {
            assert_eq!(read.write().unwrap(), changed, "bit {bit}");
            assert_ne!(read, sums());
        }
    }
    for at in 0..bytes.len() {
        assert!(FleetSums::read(&bytes[..at], 1 << 16).is_err(), "{at}");
    }
}

#[test]
fn sums_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut FleetSums)| {
        let mut changed = sums();
        change(&mut changed);
        assert!(changed.write().is_err(), "{changed:?}");
    };
    refused(&|sums| sums.keys[2] = sums.keys[0]);
    refused(&|sums| sums.start = -1);
    refused(&|sums| sums.form.width = 1);
    refused(&|sums| sums.form.places = 0);
    refused(&|sums| sums.sums[0].windows = (0, 4));
    refused(&|sums| sums.sums[0].windows = (3, 1));
    refused(&|sums| sums.sums[0].windows = (u32::MAX, u32::MAX));
    refused(&|sums| sums.sums[0].windows = (0, 0));
    refused(&|sums| sums.sums[1].places = 0);
    refused(&|sums| sums.sums[1].first = 3);
    refused(&|sums| sums.sums[0].body[1] = 0x80);
    refused(&|sums| sums.sums[0].body.push(0));
    refused(&|sums| sums.keys = (0..=1u32 << 16).map(|at| KeyId(u128::from(at).to_le_bytes())).collect());
}

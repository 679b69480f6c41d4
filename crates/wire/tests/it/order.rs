//! Orders of the owner come back as they were, and a changed one is not the owner's.

use proptest::prelude::*;
use sotto_keys::SigningIdentity;
use sotto_wire::{Forget, FromLog, MOST_RUNS, Order, OrderParts, Ordered, RollUp, WireError};

fn owner() -> SigningIdentity {
    SigningIdentity::from_bytes(&[5; 32])
}

fn order(what: Ordered) -> Result<Order, WireError> {
    let owner = owner();
    let parts = OrderParts {
        given_at: 1_700_000_000_000,
        owner: owner.verifying_key(),
        device: "boiler".into(),
        what,
    };
    Order::sign(parts, |message| owner.sign(message))
}

fn forget(stream: Option<&str>, from_log: Option<FromLog>) -> Ordered {
    Ordered::Forget(Forget { stream: stream.map(str::to_owned), until: -5, next: 12, from_log })
}

fn roll_up(groups: &[&[(u64, u64)]]) -> Ordered {
    let groups = groups.iter().map(|group| group.to_vec()).collect();
    Ordered::RollUp(RollUp { stream: "load".into(), size: 9, root: [3; 32], groups })
}

#[test]
fn groups_that_cannot_be_are_not_signed() {
    // One window, none, a window in two groups, touching runs, behind the end.
    for groups in [&[&[(0, 1)][..]][..], &[&[]], &[&[(0, 3)], &[(2, 4)]], &[&[(0, 2), (2, 4)]], &[&[(8, 10)]]]
    {
        assert!(order(roll_up(groups)).is_err(), "{groups:?}");
    }
    let many: Vec<Vec<(u64, u64)>> = (0..=MOST_RUNS as u64).map(|at| vec![(3 * at, 3 * at + 2)]).collect();
    let of = |groups: &[Vec<(u64, u64)>]| {
        let (stream, groups) = ("load".to_owned(), groups.to_vec());
        order(Ordered::RollUp(RollUp { stream, size: u64::MAX, root: [0; 32], groups }))
    };
    assert!(of(&many).is_err());
    assert!(of(&many[1..]).unwrap().write().unwrap().len() < 1 << 16);
}

#[test]
fn every_order_comes_back_and_no_changed_byte_is_the_owners() {
    let windows = FromLog::of(9, [7; 32], [0, 1, 2, 5, 8]);
    let all = [
        forget(None, None),
        forget(Some("load"), None),
        forget(Some("load"), Some(windows)),
        Ordered::Accept { stream: "load".into(), size: 4, root: [8; 32] },
        Ordered::Revoke { key: [4; 32] },
        roll_up(&[&[(0, 2)], &[(2, 3), (5, 9)], &[(3, 5)]]),
    ];
    for what in all {
        let order = order(what).unwrap();
        let bytes = order.write().unwrap();
        let read = Order::read(&bytes).unwrap();
        assert_eq!(read, order);
        read.verify(&owner().verifying_key()).unwrap();
        let other = SigningIdentity::from_bytes(&[6; 32]).verifying_key();
        assert_eq!(read.verify(&other), Err(WireError::Signature));
        for at in 16..bytes.len() - 32 {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let end = changed.len() - 32;
            let digest = blake3::hash(&changed[..end]);
            changed[end..].copy_from_slice(digest.as_bytes());
            let is_the_owners = |order: Order| order.verify(&owner().verifying_key()).is_ok();
            assert!(!Order::read(&changed).is_ok_and(is_the_owners), "byte {at}");
        }
    }
}

#[test]
fn runs_that_cannot_be_are_not_signed() {
    let of = |size, runs: &[(u64, u64)]| {
        order(forget(Some("load"), Some(FromLog { size, root: [0; 32], runs: runs.to_vec() })))
    };
    assert!(of(9, &[(0, 2), (3, 9)]).is_ok());
    // Touching, overlapping, empty, descending, behind the end.
    for runs in [&[(0, 2), (2, 3)][..], &[(0, 3), (2, 4)], &[(2, 2)], &[(4, 5), (0, 1)], &[(8, 10)]] {
        assert!(of(9, runs).is_err(), "{runs:?}");
    }
    let many: Vec<(u64, u64)> = (0..=MOST_RUNS as u64).map(|run| (2 * run, 2 * run + 1)).collect();
    assert!(of(u64::MAX, &many).is_err());
    assert!(of(u64::MAX, &many[1..]).unwrap().write().unwrap().len() < 1 << 16);
    let without_stream = forget(None, Some(FromLog::default()));
    assert!(order(without_stream).is_err());
}

proptest! {
    #[test]
    fn positions_come_back(mut positions in proptest::collection::btree_set(0u64..500, 0..200), more in 0u64..9) {
        positions.extend([u64::MAX - 2].into_iter().filter(|_| more == 0));
        let size = positions.last().map_or(0, |last| last + 1) + more;
        let windows = FromLog::of(size, [1; 32], positions.iter().copied());
        let bytes = order(forget(Some("load"), Some(windows))).unwrap().write().unwrap();
        let read = Order::read(&bytes).unwrap();
        let runs = read.parts().forget().unwrap().from_log.clone().unwrap();
        prop_assert!(runs.positions().eq(positions));
    }
}

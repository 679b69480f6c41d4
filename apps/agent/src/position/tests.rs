//! Answers of the cloud that are believed, and those that are not.

use super::*;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::Period;
use sotto_rlwe::{Bfv, ChainRequest, Params, Scheme, SchemeId};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader, Forget, Heads, Order, OrderParts, Ordered};

fn identity(byte: u8) -> SigningIdentity {
    SigningIdentity::from_bytes(&[byte; 32])
}

fn header(stream: &str, sequence: u64) -> EnvelopeHeader {
    EnvelopeHeader {
        device: "boiler".into(),
        stream: stream.into(),
        sequence,
        parameters: sotto_rlwe::ParameterId([0; 32]),
        key: sotto_rlwe::KeyId([0; 16]),
        started_at: 0,
        ended_at: 0,
        readings: 0,
        layout: vec![],
    }
}

fn signed_header(stream: &str, sequence: u64, by: u8) -> SignedHeader {
    sign(header(stream, sequence), by)
}

fn sign(header: EnvelopeHeader, by: u8) -> SignedHeader {
    let chain = ChainRequest::one_prime(SchemeId::Bfv, 1024, 257, 26).build().unwrap();
    let params = Params::<Bfv>::new(chain).unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[1; 32]), &params);
    let plain = Bfv::encode_scalar(&params, 7, params.top_level()).unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng).unwrap()).write();
    let envelope = Envelope::sign(header, body, |message| identity(by).sign(message));
    SignedHeader::of(&envelope.unwrap())
}

fn signed(stream: &str, sequence: u64, by: u8) -> Option<String> {
    Some(hex::encode(signed_header(stream, sequence, by).write()))
}

#[test]
fn only_what_the_device_has_signed_is_believed() {
    let (identity, cuts) =
        (identity(1), Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new()));
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let positions =
        Positions { device: "boiler", identity: &identity, cloud: &cloud, cuts: &cuts, owner: None };
    let check = |signed_header, next, forgotten_until| {
        positions.check("load", &Position { next, signed_header, forgotten_until, ..Position::default() })
    };
    assert_eq!(check(None, 0, None), Ok(Standing::default()));
    assert_eq!(check(None, 1 << 60, None), Ok(Standing::default()), "an unsigned number counts for nothing");
    assert_eq!(
        check(signed("load", 6, 1), 1 << 60, None),
        Ok(Standing { next: 7, signed_next: 7, until: None, forgotten: None })
    );
    let numbers = |standing: Standing| (standing.next, standing.signed_next);
    assert_eq!(check(signed("load", 6, 1), 9, Some(5)).map(numbers), Ok((9, 7)), "9 is not signed");
    let deleted = Standing { next: 9, signed_next: 0, until: Some(5), forgotten: Some(5) };
    assert_eq!(check(None, 9, Some(5)), Ok(deleted));
    for header in [None, signed("load", 6, 1)] {
        assert!(matches!(check(header, 1 << 60, Some(5)), Err(NoPosition::NotOurs(_))), "beyond any number");
    }
    let future = check(None, 9, Some(i64::MAX)).unwrap().until.unwrap();
    assert!(future <= now());
    for wrong in [signed("load", 6, 2), signed("other", 6, 1), Some("zz".into()), Some("00".into())] {
        assert!(matches!(check(wrong, 7, None), Err(NoPosition::NotOurs(_))));
    }
}

#[test]
fn a_deletion_is_believed_under_the_owners_signature_alone() {
    let (device, owner) = (identity(1), identity(3));
    let cuts = Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new());
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let key = Some(owner.verifying_key());
    let positions = Positions { device: "boiler", identity: &device, cloud: &cloud, cuts: &cuts, owner: key };
    let order = |by: &SigningIdentity, device: &str, stream: Option<&str>, until, next| {
        let stream = stream.map(str::to_owned);
        let what = Ordered::Forget(Forget { stream, until, next, from_log: None });
        let parts = OrderParts { given_at: 1, owner: by.verifying_key(), device: device.to_owned(), what };
        let order = Order::sign(parts, |message| by.sign(message)).unwrap();
        Some(hex::encode(order.write().unwrap()))
    };
    // The cloud's own numbers count for nothing beside the owner's key.
    let check = |order, signed_header| {
        let forgotten_until = Some(now() - 1);
        let said = Position { next: 1 << 60, signed_header, order, forgotten_until, ..Position::default() };
        positions.check("load", &said)
    };
    let right = || order(&owner, "boiler", Some("load"), 5, 9);
    let deleted = Standing { next: 9, signed_next: 9, until: Some(5), forgotten: Some(5) };
    assert_eq!(check(right(), None), Ok(deleted));
    let behind = Standing { next: 21, signed_next: 21, until: None, forgotten: Some(5) };
    assert_eq!(check(right(), signed("load", 20, 1)), Ok(behind));
    // An order about all streams names no number: the device goes on behind the one that the cloud names, within limits.
    let said = |next| {
        let order = order(&owner, "boiler", None, 5, 0);
        positions.check("load", &Position { next, order, ..Position::default() })
    };
    assert_eq!(said(9), Ok(Standing { next: 9, signed_next: 0, until: Some(5), forgotten: Some(5) }));
    assert_eq!(said(1 << 60), Ok(Standing { next: 0, signed_next: 0, until: Some(5), forgotten: Some(5) }));
    let future = check(order(&owner, "boiler", Some("load"), i64::MAX, 9), None).unwrap();
    assert!(future.until.unwrap() <= now(), "not the readings to come");
    for wrong in [
        None,
        order(&identity(4), "boiler", Some("load"), 5, 9),
        order(&owner, "attic", Some("load"), 5, 9),
        order(&owner, "boiler", Some("other"), 5, 9),
        Some("zz".to_owned()),
        Some(hex::encode(signed_header("load", 6, 1).write())),
    ] {
        assert_eq!(check(wrong.clone(), None), Ok(Standing::default()), "{wrong:?}");
        let own = Standing { next: 7, signed_next: 7, until: None, forgotten: None };
        assert_eq!(check(wrong, signed("load", 6, 1)), Ok(own));
    }
}

#[test]
fn a_log_is_accepted_under_the_owners_signature_alone() {
    let (device, owner) = (identity(1), identity(3));
    let cuts = Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new());
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let key = owner.verifying_key();
    let positions =
        Positions { device: "boiler", identity: &device, cloud: &cloud, cuts: &cuts, owner: Some(key) };
    let order = |by: &SigningIdentity, device: &str, what| {
        let parts = OrderParts { given_at: 1, owner: by.verifying_key(), device: device.to_owned(), what };
        Order::sign(parts, |message| by.sign(message)).unwrap().write().unwrap()
    };
    let accept = |stream: &str| Ordered::Accept { stream: stream.to_owned(), size: 2, root: [9; 32] };
    let right = order(&owner, "boiler", accept("load"));
    let digest = sotto_wire::frame_digest(&right).unwrap();
    assert_eq!(positions.accepted("load", key, &hex::encode(&right)), Some(digest));
    let forget = Ordered::Forget(Forget { stream: Some("load".into()), until: 5, next: 9, from_log: None });
    for wrong in [
        order(&identity(4), "boiler", accept("load")),
        order(&owner, "attic", accept("load")),
        order(&owner, "boiler", accept("other")),
        order(&owner, "boiler", forget),
        right[1..].to_vec(),
    ] {
        assert_eq!(positions.accepted("load", key, &hex::encode(wrong)), None);
    }
    // Without the owner's key nobody is asked.
    assert_eq!(Positions { owner: None, ..positions }.ordered("load"), Ok(super::Ordered::default()));
}

#[test]
fn only_heads_that_the_device_has_signed_are_taken() {
    let (identity, cuts) =
        (identity(1), Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new()));
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let positions =
        Positions { device: "boiler", identity: &identity, cloud: &cloud, cuts: &cuts, owner: None };
    let mut learning = Learning::default();
    let mut take = |heads: Vec<SignedHeader>, more| {
        let page = Heads { heads, more };
        positions.take("load", &page, &mut learning).map(|()| learning.so_far().next)
    };
    let head = |sequence| signed_header("load", sequence, 1);
    assert_eq!(take(vec![head(3), head(6)], true), Ok(7));
    assert_eq!(take(vec![head(7)], true), Ok(8), "the next page goes on behind");
    for (wrong, more) in [
        (vec![head(7)], false),
        (vec![signed_header("load", 8, 2)], false),
        (vec![signed_header("other", 8, 1)], false),
        (Vec::new(), true),
    ] {
        assert!(matches!(take(wrong, more), Err(NoPosition::NotOurs(_))));
    }
    assert_eq!(take(Vec::new(), false), Ok(8));
}

/// Returns the head of a window with readings of two channels at these minutes, which names others.
fn window(sequence: u64, start: i64, minutes: [&[i64]; 2], names: (&[u64], &[u16])) -> SignedHeader {
    let channel = |name: &str| sotto_pack::Channel { name: name.into(), maximum: 1.0, ..Default::default() };
    let encoding = sotto_pack::Encoding::Integer { bits: 8 };
    let layout = sotto_pack::Layout::smallest(vec![channel("a"), channel("b")], 60, 128, 1, encoding);
    let mut window = sotto_pack::Window::spanning(
        layout.unwrap(),
        start * 60_000,
        Period::from_milliseconds(60_000),
        60 - start as u32,
    )
    .unwrap();
    for (channel, minutes) in (0..).zip(minutes) {
        for minute in minutes {
            window.push(&sotto_pack::Reading { at: minute * 60_000, channel, value: 0.5 }).unwrap();
        }
    }
    let (windows, channels) = (names.0.to_vec(), names.1.to_vec());
    let replaces = (!windows.is_empty()).then_some(sotto_pack::Replaces { windows, channels });
    let description = WindowDescription { replaces, ..WindowDescription::from(&window.close()) };
    sign(EnvelopeHeader { layout: description.to_json().unwrap(), ..header("load", sequence) }, 1)
}

#[test]
fn a_window_takes_the_ticks_of_those_that_it_names_alone() {
    let cuts = Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new());
    let none: (&[u64], &[u16]) = (&[], &[]);
    let ticks = |heads: &[SignedHeader], channel: &str| -> Vec<i64> {
        let mut learning = Learning::default();
        heads.iter().for_each(|head| learning.add("load", head, &cuts));
        let sent = learning.so_far().sent;
        let runs = sent.channels.get(channel).into_iter().flat_map(crate::spool::Runs::iter);
        runs.flat_map(|(from, to)| (from..to).step_by(60_000)).map(|at| at / 60_000).collect()
    };
    // A window, a supplement in its time, and the supplement again: with a reading less of the first channel.
    let mut heads = vec![
        window(1, 0, [&[1, 2, 9], &[1]], none),
        window(2, 3, [&[4, 5], &[4, 5]], none),
        window(3, 3, [&[4, 6], &[6]], (&[2], &[0])),
    ];
    assert_eq!(ticks(&heads, "a"), [1, 2, 4, 6, 9]);
    assert_eq!(ticks(&heads, "b"), [1, 4, 5, 6], "the other channel counts on");
    // One that is replaced goes on to replace: the last names the third alone.
    heads.push(window(4, 3, [&[7], &[7]], (&[3], &[0, 1])));
    assert_eq!(ticks(&heads, "a"), [1, 2, 7, 9]);
    assert_eq!(ticks(&heads, "b"), [1, 4, 5, 7]);
    // Of two that replace one the higher number counts, and the other one's readings do not.
    heads.push(window(5, 3, [&[8], &[]], (&[2], &[0])));
    assert_eq!(ticks(&heads, "a"), [1, 2, 7, 8, 9]);
    // The fourth names the third, which the fifth does not know: both of their ticks are in the cloud.
    heads.push(window(6, 3, [&[10], &[]], (&[3], &[0])));
    assert_eq!(ticks(&heads, "a"), [1, 2, 8, 9, 10]);
}

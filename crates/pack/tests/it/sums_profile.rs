//! Profiles of devices with a stream of sums.

use sotto_pack::{
    Channel, DeviceProfile, Digit, EarlierPlaces, Encoding, Period, Placed, ProfileError, Quantity,
    StreamProfile, SumsPart,
};

fn placed(quantity: Quantity, digit: Digit, width: u8) -> Placed {
    Placed { quantity, digit, width }
}

/// One stream, with every quantity and every digit.
fn profile() -> DeviceProfile {
    let channel = |name: &str, minimum: f64, maximum: f64| Channel {
        name: name.into(),
        unit: "cm".into(),
        minimum,
        maximum,
        resolution: Some(0.1),
        ..Channel::default()
    };
    let first = SumsPart {
        quantities: vec![
            placed(Quantity::Bins { column: 0, edges: vec![i64::MIN, -3, i64::MAX] }, Digit::Whole, 16),
            placed(Quantity::Least(0), Digit::Whole, 12),
            placed(Quantity::Largest(1), Digit::Whole, 12),
            placed(Quantity::Reading(0), Digit::Whole, 60),
        ],
        reasons: 11,
    };
    let second = SumsPart {
        quantities: vec![
            placed(Quantity::Square(0), Digit::Low, 40),
            placed(Quantity::Square(0), Digit::High, 40),
            placed(Quantity::Product(0, 1), Digit::Whole, 50),
        ],
        reasons: 0,
    };
    DeviceProfile {
        device: "cellar".into(),
        zone: None,
        period_ms: Period::from_milliseconds(250),
        cloud_keys: Vec::new(),
        owner_key: None,
        streams: vec![StreamProfile {
            stream: "tank".into(),
            parameters: String::new(),
            encoding: Encoding::Resolution,
            ticks: 64,
            period_ms: None,
            span: None,
            channels: vec![channel("level", -20.0, 120.0), channel("flow", 0.0, 50.0)],
            sums: vec![first, second],
            rounded: false,
            compact: None,
            slots: None,
            envelope: 1,
            public: false,
            absolute: false,
        }],
        derived: Vec::new(),
        record: None,
    }
}

fn changed(change: impl FnOnce(&mut StreamProfile)) -> DeviceProfile {
    let mut profile = profile();
    change(&mut profile.streams[0]);
    profile
}

#[test]
fn a_profile_with_sums_is_written_and_read() {
    let json = profile().to_json().unwrap();
    assert_eq!(DeviceProfile::parse(&json), Ok(profile()));
    // The longest windows of two channels, and of one.
    let alone = |stream: &mut StreamProfile| {
        (stream.ticks, stream.sums) = (65_535, vec![stream.sums[0].clone()]);
        drop(stream.channels.pop());
        stream.sums[0].quantities[2].quantity = Quantity::Largest(0);
    };
    for profile in
        [changed(|stream| stream.ticks = 1), changed(|stream| stream.ticks = 1 << 15), changed(alone)]
    {
        assert_eq!(DeviceProfile::parse(&profile.to_json().unwrap()), Ok(profile));
    }
    // The form of the document, which bundles keep.
    let expected = r#"{"device":"d","period_ms":1,"streams":[{"stream":"s","encoding":"resolution","ticks":2,
        "channels":[{"name":"level","unit":"cm","minimum":-20.0,"maximum":120.0,"resolution":0.1}],
        "sums":[{"quantities":[{"quantity":{"bins":{"column":0,"edges":[-5,7]}},"width":12},
                               {"quantity":{"reading":0},"width":30}]},
                {"quantities":[{"quantity":{"square":0},"digit":"low","width":40},
                               {"quantity":{"square":0},"digit":"high","width":40}],"reasons":2}]}]}"#;
    let read = DeviceProfile::parse(expected.as_bytes()).unwrap();
    let [first, second] = &read.streams[0].sums[..] else { panic!("{read:?}") };
    let bins = Quantity::Bins { column: 0, edges: vec![-5, 7] };
    assert_eq!(
        first.quantities,
        [placed(bins, Digit::Whole, 12), placed(Quantity::Reading(0), Digit::Whole, 30)]
    );
    assert_eq!((first.reasons, second.reasons), (0, 2));
    assert_eq!(second.quantities[1], placed(Quantity::Square(0), Digit::High, 40));
    assert!(read.streams[0].parameters.is_empty());
}

fn earlier_places() -> EarlierPlaces {
    serde_json::from_str(r#"{"width":16}"#).unwrap()
}

/// A change of the stream, and words of the refusal.
type Refused = (fn(&mut StreamProfile), &'static str);

#[test]
fn a_stream_of_sums_that_cannot_be_used_is_refused() {
    let cases: [Refused; 19] = [
        (|s| s.compact = Some(earlier_places()), "neither parameters nor slots nor a public key"),
        (|s| s.slots = Some(64), "neither parameters nor slots nor a public key"),
        (|s| s.public = true, "neither parameters nor slots nor a public key"),
        (|s| s.parameters = "00".into(), "neither parameters nor slots nor a public key"),
        (|s| s.encoding = Encoding::Real, "whole steps of channels with a resolution"),
        (|s| s.encoding = Encoding::Integer { bits: 12 }, "whole steps of channels with a resolution"),
        (|s| s.channels.clear(), "stream tank cannot be one of sums"),
        (|s| s.channels[0].resolution = None, "stream tank cannot be one of sums"),
        (|s| drop(s.channels.pop()), "a column that the stream does not have"),
        (|s| s.sums = vec![s.sums[0].clone(); 17], "1 to 16 parts"),
        (|s| s.ticks = 65_536, "1 to 65535 ticks"),
        (|s| s.ticks = 0, "the number of ticks of stream tank cannot be 0"),
        (
            |s| s.period_ms = Period::new(50, 3).ok(),
            "stream tank cannot have a period of no whole milliseconds",
        ),
        (|s| s.envelope = 3, "the version of the envelopes of stream tank cannot be 3"),
        (|s| s.sums[1].quantities[0].width = 29, "do not tell all values"),
        (|s| s.sums[0].quantities[3].width = 61, "do not tell all values"),
        (|s| s.sums[0].quantities.reverse(), "once come before"),
        (|s| s.sums[1].quantities[2].quantity = Quantity::Product(1, 0), "lower column first"),
        (|s| s.sums[0].reasons = 200, "for reasons that are not known"),
    ];
    for (change, says) in cases {
        let profile = changed(change);
        let refused = profile.to_json().unwrap_err();
        assert!(refused.to_string().contains(says), "{says}: {refused}");
        let json = serde_json::to_vec(&profile).unwrap();
        assert_eq!(DeviceProfile::parse(&json), Err(refused));
    }
    // Without sums it is a stream of ciphertexts, which has parameters.
    let refused = changed(|s| s.sums.clear()).to_json().unwrap_err();
    assert_eq!(refused, ProfileError::Parameters { stream: "tank".into() });
    let json = String::from_utf8(profile().to_json().unwrap()).unwrap();
    for (from, to) in [
        ("\"quantities\"", "\"colour\": 1, \"quantities\""),
        ("\"width\"", "\"colour\": 1, \"width\""),
        ("\"least\"", "\"colour\""),
        ("\"low\"", "\"colour\""),
    ] {
        let refused = DeviceProfile::parse(json.replacen(from, to, 1).as_bytes()).unwrap_err();
        let unknown = matches!(&refused, ProfileError::Json { reason } if reason.contains("colour"));
        assert!(json.contains(from) && unknown, "{from}: {refused:?}");
    }
}

//! Documents between owner and device: profiles and descriptions of windows.

use proptest::prelude::*;
use sotto_pack::{
    Channel, DescriptionError, DeviceProfile, Encoding, LARGEST_DESCRIPTION, LARGEST_PROFILE, Layout, Period,
    ProfileError, Reading, StreamProfile, Window, WindowDescription,
};

fn profile() -> DeviceProfile {
    let stream = |stream: &str, encoding| StreamProfile {
        stream: stream.into(),
        parameters: "736f7474".into(),
        encoding,
        ticks: 64,
        period_ms: None,
        span: None,
        channels: Vec::new(),
        sums: Vec::new(),
        rounded: false,
        compact: None,
        slots: None,
        envelope: 1,
        public: false,
        absolute: false,
    };
    DeviceProfile {
        device: "device-1".into(),
        zone: None,
        period_ms: Period::from_milliseconds(250),
        cloud_keys: Vec::new(),
        owner_key: None,
        streams: vec![stream("exact", Encoding::Integer { bits: 12 }), stream("real", Encoding::Real)],
        derived: Vec::new(),
        record: None,
    }
}

fn changed(change: impl FnOnce(&mut DeviceProfile)) -> DeviceProfile {
    let mut profile = profile();
    change(&mut profile);
    profile
}

/// Makes a profile for reals of a named channel whose slots repeat.
fn repeated(slots: Option<u32>) -> DeviceProfile {
    changed(|profile| {
        let channel = Channel { name: "inside".into(), maximum: 1.0, ..Channel::default() };
        profile.streams[1] = StreamProfile { channels: vec![channel], slots, ..profile.streams[1].clone() };
    })
}

fn description(minimum: f64, maximum: f64) -> WindowDescription {
    let channel = |name: &str| Channel {
        name: name.into(),
        unit: "°C".into(),
        minimum,
        maximum,
        resolution: None,
        ..Channel::default()
    };
    let layout =
        Layout::smallest(vec![channel("inside"), channel("outside")], 3, 8, 2, Encoding::Real).unwrap();
    let mut window = Window::new(layout, 1_700_000_000_000, Period::from_milliseconds(1000)).unwrap();
    for (tick, channel, value) in [(0, 0, minimum), (0, 1, maximum), (1, 1, minimum)] {
        window.push(&Reading { at: 1_700_000_000_000 + 1000 * tick, channel, value }).unwrap();
    }
    WindowDescription::from(&window.close())
}

#[test]
fn a_profile_is_written_and_read() {
    let json = profile().to_json().unwrap();
    assert_eq!(DeviceProfile::parse(&json), Ok(profile()));
    assert_eq!(serde_json::from_slice::<DeviceProfile>(&json).unwrap(), profile());
    let mut repeated = repeated(Some(64));
    assert_eq!(DeviceProfile::parse(&repeated.to_json().unwrap()), Ok(repeated.clone()));
    repeated.streams[1].public = true;
    assert_eq!(DeviceProfile::parse(&repeated.to_json().unwrap()), Ok(repeated));
    let expected = r#"{"device":"d","period_ms":1,"streams":[{"stream":"s","parameters":"00",
        "encoding":{"integer":{"bits":12}},"ticks":1},{"stream":"t","parameters":"00","encoding":"real","ticks":1}]}"#;
    assert_eq!(DeviceProfile::parse(expected.as_bytes()).unwrap().streams.len(), 2);
}

/// A profile of the last program that sent windows of places: what it says of them comes back, but for the fleet that
/// shared masks.
#[test]
fn a_profile_of_windows_of_places_is_read() {
    let earlier = r#"{"device":"d","period_ms":1,"streams":[{"stream":"s","parameters":"00","encoding":"resolution",
        "ticks":2,"channels":[{"name":"a","unit":"","minimum":0,"maximum":9,"resolution":1}],
        "compact":{"width":24,"squares":true,"products":[[0,1]],"bins":[{"channel":0,"edges":[3]}]},
        "envelope":2,"fleet":"000102030405060708090a0b0c0d0e0f"}]}"#;
    let read = DeviceProfile::parse(earlier.as_bytes()).unwrap();
    let places = serde_json::to_string(&read.streams[0].compact).unwrap();
    assert_eq!(
        places,
        r#"{"bins":[{"channel":0,"edges":[3]}],"products":[[0,1]],"squares":true,"width":24}"#
    );
    let again = read.to_json().unwrap();
    assert_eq!(DeviceProfile::parse(&again), Ok(read));
    assert!(!String::from_utf8(again).unwrap().contains("fleet"));
}

#[test]
fn a_profile_that_cannot_be_used_is_refused() {
    for (profile, says) in [
        (changed(|p| p.device.clear()), "cannot be the name of a device"),
        (changed(|p| p.device = "a b".into()), "cannot be the name of a device"),
        (changed(|p| p.streams[1].stream = "ü".into()), "cannot be the name of a stream"),
        (changed(|p| p.streams[1].stream = "x".repeat(65)), "cannot be the name of a stream"),
        (changed(|p| p.streams[1].stream = "exact".into()), "two streams are called exact"),
        (
            changed(|p| (p.streams[1].public, p.streams[1].envelope) = (true, 2)),
            "stream real cannot be public",
        ),
        (
            changed(|p| p.period_ms = Period::new(50, 3).unwrap()),
            "of no whole milliseconds: only windows of sums",
        ),
        (changed(|p| p.streams.clear()), "the number of streams cannot be 0"),
        (changed(|p| p.streams[0].ticks = 0), "the number of ticks of stream exact cannot be 0"),
        (changed(|p| p.streams[0].ticks = 65_537), "the number of ticks of stream exact cannot be 65537"),
        (
            changed(|p| p.streams[0].encoding = Encoding::Integer { bits: 33 }),
            "the number of bits of stream exact cannot be 33",
        ),
        (changed(|p| p.streams[1].slots = Some(64)), "stream real cannot have these slots"),
        (repeated(Some(3)), "stream real cannot have these slots"),
        (repeated(Some(1)), "stream real cannot have these slots"),
        (repeated(Some(1 << 17)), "stream real cannot have these slots"),
        (changed(|p| p.streams[0].slots = Some(64)), "stream exact cannot have these slots"),
        (changed(|p| p.streams[1].parameters.clear()), "the parameters of stream real"),
        (changed(|p| p.streams[1].parameters = "abc".into()), "the parameters of stream real"),
        (changed(|p| p.streams[1].parameters = "0g".into()), "the parameters of stream real"),
        (changed(|p| p.streams[1].parameters = "00".repeat(4097)), "the parameters of stream real"),
    ] {
        let refused = profile.to_json().unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
        let json = serde_json::to_vec(&profile).unwrap();
        assert_eq!(DeviceProfile::parse(&json), Err(refused));
        assert!(serde_json::from_slice::<DeviceProfile>(&json).is_err());
    }
}

#[test]
fn unknown_fields_and_long_documents_are_refused() {
    let json = String::from_utf8(profile().to_json().unwrap()).unwrap();
    for (from, to) in
        [("\"period_ms\"", "\"colour\":1,\"period_ms\""), ("\"ticks\"", "\"colour\":1,\"ticks\"")]
    {
        let refused = DeviceProfile::parse(json.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(
            matches!(&refused, ProfileError::Json { reason } if reason.contains("colour")),
            "{refused:?}"
        );
    }
    let long = vec![b' '; LARGEST_PROFILE + 1];
    assert_eq!(DeviceProfile::parse(&long), Err(ProfileError::TooLong { bytes: long.len() }));
    let long = vec![b' '; LARGEST_DESCRIPTION + 1];
    assert_eq!(WindowDescription::parse(&long), Err(DescriptionError::TooLong { bytes: long.len() }));
    assert!(matches!(WindowDescription::parse(b"[1, 2"), Err(DescriptionError::Json { .. })));
    assert!(matches!(DeviceProfile::parse(b""), Err(ProfileError::Json { .. })));
}

#[test]
fn a_description_says_what_is_packed() {
    let description = description(-40.0, 125.0);
    let json = description.to_json().unwrap();
    let back = WindowDescription::parse(&json).unwrap();
    assert_eq!(back, description);
    assert_eq!((back.present.as_slice(), back.readings()), (&[1, 2][..], 3));
    assert_eq!(
        (back.start, back.period, back.layout.ticks()),
        (1_700_000_000_000, Period::from_milliseconds(1000), 3)
    );

    let json = String::from_utf8(json).unwrap();
    let refused = |from: &str, to: &str| {
        let wrong = json.replace(from, to);
        assert_ne!(wrong, json);
        WindowDescription::parse(wrong.as_bytes()).unwrap_err()
    };
    assert_eq!(refused("[1,2]", "[1]"), DescriptionError::Counts { expected: 2, found: 1 });
    assert_eq!(refused("[1,2]", "[1,4]"), DescriptionError::TooMany { channel: 1, count: 4, ticks: 3 });
    for (period, says) in [
        ("0", "a period is at least 1 ms"),
        ("[1,2]", "a period is at least 1 ms"),
        ("[1,0]", "below 2^32 ms"),
        ("[65537,65536]", "a denominator of at most 65535"),
        ("[100,6]", "in lowest terms"),
        ("[1000,1]", ""),
    ] {
        let json = json.replace("\"period\":1000", &format!("\"period\":{period}"));
        let read = WindowDescription::parse(json.as_bytes()).map(|read| read.period);
        if says.is_empty() {
            // A whole number has one form.
            assert_eq!(read, Ok(Period::from_milliseconds(1000)));
        } else {
            assert!(read.as_ref().unwrap_err().to_string().contains(says), "{period}: {read:?}");
        }
    }
    let fraction = WindowDescription { period: Period::new(50, 3).unwrap(), ..back };
    let written = fraction.to_json().unwrap();
    assert!(String::from_utf8(written.clone()).unwrap().contains("\"period\":[50,3]"));
    assert_eq!(WindowDescription::parse(&written).unwrap(), fraction);
    assert!(refused("\"block\":4", "\"block\":3").to_string().contains("a block of 3"));
    assert!(refused("\"start\"", "\"colour\":1,\"start\"").to_string().contains("colour"));
}

#[test]
fn too_many_channels_for_a_description_are_refused_where_it_is_written() {
    let channel = |index: usize| Channel {
        name: format!("{index:064}"),
        unit: "u".repeat(32),
        minimum: 0.0,
        maximum: 1.0,
        resolution: None,
        ..Channel::default()
    };
    let layout =
        Layout::smallest((0..128).map(channel).collect(), 1, 128, 1, Encoding::Integer { bits: 8 }).unwrap();
    let packed = Window::new(layout, 0, Period::from_milliseconds(1)).unwrap().close();
    assert!(matches!(WindowDescription::from(&packed).to_json(), Err(DescriptionError::TooLong { .. })));
}

proptest! {
    #[test]
    fn ranges_come_back_to_the_last_bit(minimum in -1.0e12..0.0f64, width in 1.0..1.0e12f64) {
        let description = description(minimum, minimum + width);
        prop_assert_eq!(WindowDescription::parse(&description.to_json().unwrap()), Ok(description));
    }
}

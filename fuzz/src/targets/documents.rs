//! Documents: profiles, descriptions of windows, the lab's files and messages.

use sotto_harness::protocol::{Failure, Measured, Prepared, Request, Verified, Version};
use sotto_pack::{
    Channel, DeviceProfile, Encoding, Layout, Period, Reading, StreamProfile, Window, WindowDescription,
};
use sotto_runner::{Definition, Gap, Host, Row};

use super::{Inputs, Target};

/// Memory of JSON and TOML trees: several words for each byte.
fn tree(bytes: &[u8]) -> usize {
    128 * bytes.len() + (64 << 10)
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "profile", run: profile, inputs: Inputs::Kept(profiles), memory: tree },
    Target { name: "description", run: description, inputs: Inputs::Kept(descriptions), memory: tree },
    Target { name: "lab-request", run: lab_request, inputs: Inputs::Kept(requests), memory: tree },
    Target { name: "lab-reply", run: lab_reply, inputs: Inputs::Kept(replies), memory: tree },
    Target { name: "lab-definition", run: definition, inputs: Inputs::Kept(definitions), memory: |bytes| 512 * bytes.len() + (64 << 10) },
    Target { name: "lab-row", run: row, inputs: Inputs::Kept(rows), memory: tree },
];

fn profiles() -> Vec<Vec<u8>> {
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
    let streams = vec![stream("exact", Encoding::Integer { bits: 12 }), stream("real", Encoding::Real)];
    let profile = DeviceProfile {
        device: "device-1".into(),
        zone: None,
        period_ms: Period::from_milliseconds(250),
        cloud_keys: Vec::new(),
        owner_key: None,
        streams,
        derived: Vec::new(),
        record: None,
    };
    profile.to_json().into_iter().collect()
}

fn profile(bytes: &[u8]) -> bool {
    let Ok(profile) = DeviceProfile::parse(bytes) else { return false };
    let again = profile.to_json().and_then(|json| DeviceProfile::parse(&json));
    assert_eq!(again, Ok(profile));
    true
}

fn descriptions() -> Vec<Vec<u8>> {
    let channel = |name: &str| Channel {
        name: name.into(),
        unit: "°C".into(),
        minimum: -3.5,
        maximum: 40.0,
        resolution: None,
        ..Channel::default()
    };
    let described = |encoding| {
        let channels = vec![channel("inside"), channel("outside")];
        let mut window = Window::new(
            Layout::smallest(channels, 3, 8, 2, encoding).ok()?,
            1_700_000_000_000,
            Period::from_milliseconds(1000),
        )
        .ok()?;
        window.push(&Reading { at: 1_700_000_000_000, channel: 0, value: 1.0 }).ok()?;
        WindowDescription::from(&window.close()).to_json().ok()
    };
    [Encoding::Real, Encoding::Integer { bits: 12 }].into_iter().filter_map(described).collect()
}

fn description(bytes: &[u8]) -> bool {
    let Ok(description) = WindowDescription::parse(bytes) else { return false };
    let _ = description.readings();
    if let Ok(json) = description.to_json() {
        assert_eq!(WindowDescription::parse(&json), Ok(description));
    }
    true
}

/// Returns the examples in the protocol's page, which are indented by four spaces.
fn requests() -> Vec<Vec<u8>> {
    let page = include_str!("../../../lab/engines/PROTOCOL.md");
    let mut blocks = vec![String::new()];
    for line in page.lines() {
        match line.strip_prefix("    ") {
            Some(code) => blocks.last_mut().into_iter().for_each(|block| block.push_str(code)),
            None => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks.push(r#"{"do":"version"}"#.into());
    blocks.into_iter().map(String::into_bytes).collect()
}

fn lab_request(bytes: &[u8]) -> bool {
    let Ok(request) = serde_json::from_slice::<Request>(bytes) else { return false };
    let written = serde_json::to_vec(&request).unwrap_or_default();
    assert!(serde_json::from_slice::<Request>(&written).is_ok(), "its own output can be read");
    if let Request::Verify(verify) = request {
        for inputs in &verify.inputs {
            let _ = (inputs.reals(), inputs.integers());
        }
        let _ = sotto_engine::translate(&verify.program, 8);
    }
    true
}

fn replies() -> Vec<Vec<u8>> {
    [
        r#"{"engine":"seal","library":"SEAL","version":"4.1","schemes":["bfv","ckks"],"flags":"avx512"}"#,
        r#"{"data":[97,193],"special":[257],"log2_q":14.1,"limbs":2,"special_limbs":1,"security":128}"#,
        r#"{"outputs":[[1,2,3],[0.5,1e-3]],"bounds":[0,1e-6]}"#,
        r#"{"microseconds":[1.5,2,3e2],"bytes":12345,"verified":true}"#,
        r#"{"error":"unsupported"}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn lab_reply(bytes: &[u8]) -> bool {
    let read = [
        serde_json::from_slice::<Failure>(bytes).is_ok(),
        serde_json::from_slice::<Version>(bytes).is_ok(),
        serde_json::from_slice::<Prepared>(bytes).is_ok(),
        serde_json::from_slice::<Verified>(bytes).is_ok(),
        serde_json::from_slice::<Measured>(bytes).is_ok(),
    ];
    read.contains(&true)
}

fn definitions() -> Vec<Vec<u8>> {
    // A short definition; the large ones are embedded in the lab's program and covered by its tests.
    vec![include_bytes!("../../../lab/definitions/sizes.toml").to_vec()]
}

fn definition(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    Definition::parse("sizes", &text).is_ok()
}

fn rows() -> Vec<Vec<u8>> {
    [
        r#"{"definition":"operations","engine":"seal","version":"4.1","scheme":"bfv","n":4096,"limbs":2,"special_limbs":1,"log2_q":72.0,"log2_qp":109.0,"security_profile":"guidelines-2024","security_bits":128,"operation":"add","codec":null,"object":null,"instead":null,"median_us":1.5,"mean_us":1.6,"sd_us":0.1,"count":20,"bytes":null,"verified":true}"#,
        r#"{"definition":"operations","engine":"seal","scheme":"bgv","n":4096,"operation":"rotate","reason":"unsupported"}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn row(bytes: &[u8]) -> bool {
    let row = serde_json::from_slice::<Row>(bytes);
    if let Ok(row) = &row {
        let _ = (row.key(), row.is_insecure(), row.label());
    }
    let machine = serde_json::from_slice::<Host>(bytes);
    if let Ok(machine) = &machine {
        let _ = machine.slug();
    }
    row.is_ok() | machine.is_ok() | serde_json::from_slice::<Gap>(bytes).is_ok()
}

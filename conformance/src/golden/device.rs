//! Objects without a scheme: a plan, an envelope, key files, and the messages between a device and its owner.

use std::path::Path;

use chacha20::ChaCha20Rng;
use sotto_keys::{KeyFile, Protection, SigningIdentity};
use sotto_program::{
    ConstantId, KeyNumber, PlainConstant, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step,
};
use sotto_rlwe::Bfv;
use sotto_wire::{
    Envelope, EnvelopeHeader, Forget, FromLog, HeadsRequest, Order, OrderParts, Ordered, PositionRequest,
    RollUp, write_plan,
};

use super::Golden;
use super::scheme::{DEVICE_SECRET, insecure_n16, secret};

/// The signing key of the golden device.
pub const SIGNING_KEY: [u8; 32] = [9; 32];
/// The passphrase of `owner.key`.
pub const PASSPHRASE: &str = "golden files are not secret";

/// The header of `envelope.bin`.
pub fn envelope_header() -> EnvelopeHeader {
    let params = insecure_n16::<Bfv>();
    EnvelopeHeader {
        device: "device-1".into(),
        stream: "bfv.load_1".into(),
        sequence: 7,
        parameters: params.id(),
        key: secret(&params).id(),
        started_at: 1_700_000_000_000,
        ended_at: 1_700_000_001_000,
        readings: 12,
        layout: br#"{"block":4}"#.to_vec(),
    }
}

/// The question of `position-request.bin`, for the device and stream of `envelope.bin`.
pub fn position_request() -> PositionRequest {
    let (identity, header) = (SigningIdentity::from_bytes(&SIGNING_KEY), envelope_header());
    PositionRequest::sign(&header.device, &header.stream, 1_700_000_002_000, |message| identity.sign(message))
        .expect("a request")
}

/// The question of `heads-request.bin`, for the same stream.
pub fn heads_request() -> HeadsRequest {
    let (identity, header) = (SigningIdentity::from_bytes(&SIGNING_KEY), envelope_header());
    let sign = |message: &[u8]| identity.sign(message);
    HeadsRequest::sign(&header.device, &header.stream, 300, 1_700_000_002_000, sign).expect("a request")
}

/// The order of `order.bin`: a deletion of windows of the same stream.
pub fn order() -> Order {
    let stream = Some(envelope_header().stream);
    let from_log = Some(FromLog::of(400, [7; 32], (0..300).chain(302..305)));
    ordered(Ordered::Forget(Forget { stream, until: 1_700_000_000_000, next: 305, from_log }))
}

/// An order under the key of [`order`]: two groups of windows of the same stream become sums.
pub fn roll_up() -> Order {
    let groups = vec![vec![(0, 30), (31, 200)], vec![(30, 31), (302, 305)]];
    ordered(Ordered::RollUp(RollUp { stream: envelope_header().stream, size: 400, root: [7; 32], groups }))
}

fn ordered(what: Ordered) -> Order {
    let (identity, header) = (SigningIdentity::from_bytes(&SIGNING_KEY), envelope_header());
    let (given_at, owner) = (1_700_000_002_000, identity.verifying_key());
    let parts = OrderParts { given_at, owner, device: header.device, what };
    Order::sign(parts, |message| identity.sign(message)).expect("an order")
}

/// The plan of `plan.bin`: a step of every sort, constants of every encoded width, an input under another key.
pub fn plan() -> Plan {
    let steps = [
        Step::Multiply(Register(0), Register(1)),
        Step::Relinearise(Register(3)),
        Step::Rotate(Register(4), -3),
        Step::AddPlain(Register(5), ConstantId(0)),
        Step::MultiplyScalar(Register(6), -12),
        Step::DropModulus { of: Register(7), count: 1 },
        Step::SwapRows(Register(8)),
        Step::Sub(Register(8), Register(9)),
        Step::Negate(Register(10)),
        Step::MultiplyPlain(Register(11), ConstantId(1)),
        Step::MatchScale { of: Register(12), level: 0 },
        Step::MatchFactor { of: Register(13), scalar: 5 },
        Step::Add(Register(14), Register(14)),
        Step::SwitchKey(Register(2)),
        Step::Sub(Register(15), Register(16)),
    ];
    let output = |i: usize| Register(i as u32 + 3);
    let input = |name: &str, key| PlanInput { name: name.into(), key };
    let constant =
        |coefficients: &[i64], level| PlainConstant { coefficients: coefficients.to_vec(), level, power: 1 };
    let mut plan = Plan {
        parameter_id: insecure_n16::<Bfv>().id().0,
        inputs: vec![input("x", KeyNumber::ANSWER), input("y", KeyNumber::ANSWER), input("z", KeyNumber(1))],
        constants: vec![constant(&[1, -1, 300, i64::MIN, i64::MAX], 2), constant(&[-128, 127], 1)],
        steps: steps
            .iter()
            .enumerate()
            .map(|(i, step)| PlanStep { step: *step, output: output(i) })
            .collect(),
        outputs: vec![PlanOutput { name: "result".into(), register: Register(17), form: None }],
        keys: Default::default(),
        predicted: Predicted { noise_bits_left: 3.5, levels_used: 1, output_bytes: 1234 },
    };
    plan.keys = plan.keys_needed();
    plan
}

pub(super) fn objects(all: &mut Vec<Golden>, body: Vec<u8>, rng: &mut ChaCha20Rng) {
    let identity = SigningIdentity::from_bytes(&SIGNING_KEY);
    let envelope =
        Envelope::sign(envelope_header(), body, |message| identity.sign(message)).expect("an envelope");
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("envelope.bin", envelope.write());
    // The header of the kept envelope, if there is one.
    let kept = std::fs::read(super::folder().join("envelope.bin")).ok();
    let kept = kept.and_then(|bytes| Envelope::read(&bytes, u64::MAX).ok()).unwrap_or(envelope);
    add("signed-header.bin", kept.signed_header().write());
    add("position-request.bin", position_request().write().expect("a request"));
    add("heads-request.bin", heads_request().write().expect("a request"));
    add("order.bin", order().write().expect("an order"));
    add("plan.bin", write_plan(&plan()).expect("a plan"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut key = |name: &str, kind: KeyFile, secret: &[u8; 32], protection: &Protection<'_>| {
        add(name, key_file(&folder.path().join(name), kind, secret, protection, rng));
    };
    key("device.key", KeyFile::Device, &DEVICE_SECRET, &Protection::FileMode);
    key("signing.key", KeyFile::Signing, &SIGNING_KEY, &Protection::FileMode);
    // The kept file of this name is older than the field for the cost of its passphrase.
    key("owner.key", KeyFile::Device, &DEVICE_SECRET, &Protection::Passphrase(PASSPHRASE));
    key("owner-cost.key", KeyFile::Device, &DEVICE_SECRET, &Protection::Passphrase(PASSPHRASE));
}

/// Writes a key file to a temporary folder and returns its bytes.
fn key_file(
    path: &Path,
    kind: KeyFile,
    secret: &[u8; 32],
    protection: &Protection<'_>,
    rng: &mut impl sotto_ring::SecretRng,
) -> Vec<u8> {
    kind.write(path, secret, protection, rng).expect("a key file");
    std::fs::read(path).expect("a key file")
}

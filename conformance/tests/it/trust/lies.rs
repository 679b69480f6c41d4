//! The lies: for each, the behaviour of a cloud that has its signing key, and the words with which the owner's tool
//! names it.

use serde_json::{Value, json};
use sotto_wire::frame_digest;

use crate::trust::liar::{Lie, Reply, Request, Truth, edited};
use crate::trust::world::{CURVE, DAILY, OTHER, World};

/// The command that finds a lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// `sotto ask` refuses the answer.
    Ask,
    /// `sotto ask` answers with a note.
    Remark,
    /// `sotto verify` finds it.
    Verify,
}

/// A lie.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) lie: Lie,
    /// True if the owner has read the cloud's logs before.
    pub(crate) seen: bool,
    pub(crate) question: &'static str,
    pub(crate) found: Found,
    /// Words that the message must contain.
    pub(crate) says: &'static str,
    /// Questions that the owner asks first, in order.
    pub(crate) before: &'static [&'static str],
}

impl Case {
    fn new(
        name: &'static str,
        question: &'static str,
        (found, says): (Found, &'static str),
        lie: Lie,
    ) -> Self {
        Self { name, lie, seen: true, question, found, says, before: &[] }
    }

    fn fresh(self) -> Self {
        Self { seen: false, ..self }
    }

    fn after(self, before: &'static [&'static str]) -> Self {
        Self { before, ..self }
    }
}

/// A lie about the logs of streams of exact values.
fn log(edit: impl Fn(&mut Vec<Value>) + Send + 'static) -> Lie {
    Box::new(move |truth, request| {
        let is_log = request.is("GET", "/v1/log") && request.path.contains("stream=exact");
        if is_log { truth.log(&request, &edit) } else { truth.tell(&request) }
    })
}

/// A lie about sums.
fn sums(mut lie: impl FnMut(&Truth, Request) -> Reply + Send + 'static) -> Lie {
    Box::new(move |truth, request| {
        let path = &request.path;
        let of_sums = request.method == "POST" && path.starts_with("/v1/streams/") && path.ends_with("/sums");
        if of_sums { lie(truth, request) } else { truth.tell(&request) }
    })
}

fn is_job(request: &Request) -> bool {
    request.method == "GET" && request.path.starts_with("/v1/jobs/") && !request.path.contains("/outputs/")
}

/// A lie about the outputs of jobs and their digests in the transcript.
fn output(edit: impl Fn(Vec<u8>) -> Vec<u8> + Send + 'static) -> Lie {
    Box::new(move |truth, request| {
        if request.path.contains("/outputs/") {
            let mut reply = truth.tell(&request);
            reply.body = edit(reply.body);
            return reply;
        }
        if !is_job(&request) {
            return truth.tell(&request);
        }
        let first = Request { path: format!("{}/outputs/0", request.path), ..request.clone() };
        // The same reply: the job may end between two.
        let state = truth.tell(&request);
        if state.json()["state"] != "done" {
            return state;
        }
        let digest = frame_digest(&edit(truth.tell(&first).body)).unwrap();
        truth.job(&request, |parts| parts.outputs[0] = digest)
    })
}

/// Changes the frame of a signed header in a window of a log, and the leaf with it.
fn signed(window: &mut Value, edit: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let frame = edit(hex::decode(window["signed"].as_str().unwrap()).unwrap());
    let leaf = blake3::hash(&[&[0][..], &frame].concat());
    window["leaf"] = json!(leaf.to_hex().as_str());
    window["signed"] = json!(hex::encode(frame));
}

/// Replaces bytes by others, once.
fn replaced(mut frame: Vec<u8>, old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = frame.windows(old.len()).position(|bytes| bytes == old).expect("the bytes are there");
    frame[at..at + new.len()].copy_from_slice(new);
    edited(frame, |_| {})
}

/// Writes another noise bound, as log2, into the header of an answer.
fn with_bound(frame: Vec<u8>, change: impl Fn(f64) -> f64) -> Vec<u8> {
    const AT: std::ops::Range<usize> = 84..92;
    edited(frame, |bytes| {
        let bound = f64::from_le_bytes(bytes[AT].try_into().unwrap());
        bytes[AT].copy_from_slice(&change(bound).to_le_bytes());
    })
}

/// All lies.
pub(crate) fn all(world: &World) -> Vec<Case> {
    use Found::{Ask, Remark, Verify};
    vec![
        Case::new("older database", DAILY, (Ask, "older database"), older(world)),
        Case::new("forged answer: another sum", DAILY, (Ask, "not the sum of the windows"), forged_sum()),
        Case::new(
            "forged answer: a changed ciphertext",
            CURVE,
            (Ask, "forged or damaged"),
            output(|frame| edited(frame, |bytes| bytes[200..1200].iter_mut().for_each(|byte| *byte ^= 0x5a))),
        ),
        Case::new(
            "forged bound, larger",
            CURVE,
            (Ask, "noise bound"),
            output(|frame| with_bound(frame, |bound| bound + 3.0)),
        ),
        Case::new(
            "forged bound, smaller",
            CURVE,
            (Verify, "forged answer"),
            output(|frame| with_bound(frame, |bound| bound - 3.0)),
        ),
        Case::new(
            "dropped window, before it was seen",
            DAILY,
            (Remark, "missing by its number"),
            log(|windows| {
                drop(windows.remove(1));
            }),
        )
        .fresh(),
        Case::new(
            "dropped window, after it was seen",
            DAILY,
            (Ask, "older database"),
            log(|windows| {
                drop(windows.pop());
            }),
        ),
        Case::new(
            "doubled window",
            DAILY,
            (Ask, "doubled window"),
            log(|windows| {
                windows.push(windows[1].clone());
            }),
        ),
        Case::new(
            "exchanged window",
            DAILY,
            (Ask, "exchanged window"),
            log(|windows| {
                let (leaf, frame) = (windows[2]["leaf"].clone(), windows[2]["signed"].clone());
                (windows[1]["leaf"], windows[1]["signed"]) = (leaf, frame);
            }),
        )
        .fresh(),
        Case::new(
            "exchanged window, in the sum",
            DAILY,
            (Ask, "other windows"),
            sums(|truth, mut request| {
                let mut body = request.json();
                let first = body["windows"][0][0].as_u64().unwrap();
                let count = body["windows"][0][1].as_u64().unwrap();
                body["windows"] = json!([[first + 1, 1], [first, 1], [first + 2, count - 2]]);
                request.body = body.to_string().into_bytes();
                truth.tell(&request)
            }),
        ),
        Case::new(
            "re-ranged window",
            DAILY,
            (Ask, "changed window"),
            log(|windows| {
                let (old, new) = (100_f64.to_le_bytes(), 200_f64.to_le_bytes());
                signed(&mut windows[1], |frame| replaced(frame, &old, &new));
            }),
        )
        .fresh(),
        Case::new(
            "wrong key",
            CURVE,
            (Ask, "wrong key"),
            Box::new(|truth, request| {
                if !is_job(&request) {
                    return truth.tell(&request);
                }
                truth.job(&request, |parts| parts.key.0[0] ^= 1)
            }),
        ),
        Case::new(
            "wrong evaluation keys",
            CURVE,
            (Ask, "wrong evaluation keys"),
            Box::new(|truth, request| {
                if !is_job(&request) {
                    return truth.tell(&request);
                }
                truth.job(&request, |parts| parts.evaluation_keys = Some([7; 32]))
            }),
        ),
        Case::new("other plan", CURVE, (Ask, "other plan"), other_plan()).after(&[OTHER]),
        Case::new(
            "truncated answer",
            CURVE,
            (Ask, "truncated answer"),
            Box::new(|truth, request| {
                let mut reply = truth.tell(&request);
                if request.path.contains("/outputs/") {
                    reply.body.truncate(reply.body.len() - 100);
                }
                reply
            }),
        ),
        Case::new("replayed answer", DAILY, (Ask, "other windows"), replayed()).after(&[DAILY]),
        Case::new(
            "unsigned layout",
            DAILY,
            (Ask, "unsigned layout"),
            log(|windows| {
                signed(&mut windows[1], |frame| {
                    edited(frame, |bytes| {
                        let end = bytes.len();
                        bytes[end - 64..].fill(0);
                    })
                });
            }),
        )
        .fresh(),
        Case::new(
            "other signing key",
            DAILY,
            (Ask, "other cloud"),
            Box::new(|truth, request| {
                let mut reply = truth.tell(&request);
                if request.is("GET", "/v1/log") {
                    let mut page = reply.json();
                    let head = hex::decode(page["head"].as_str().unwrap()).unwrap();
                    let head = sotto_wire::StreamHead::read(&head).unwrap();
                    let other = sotto_keys::SigningIdentity::from_bytes(&[9; 32]);
                    let forged = sotto_wire::StreamHead::sign(
                        &head.device,
                        &head.stream,
                        head.size,
                        head.root,
                        head.signed_at,
                        other.verifying_key(),
                        |message| other.sign(message),
                    );
                    page["head"] = json!(hex::encode(forged.unwrap().write().unwrap()));
                    reply = Reply::of_json(&page);
                }
                reply
            }),
        ),
    ]
}

/// A cloud with an older database.
fn older(world: &World) -> Lie {
    let url = world.older.clone();
    Box::new(move |truth, request| {
        // It has the same owner and the same key.
        truth.at(&url).tell(&request)
    })
}

/// Adds five metres to the first hour of a sum, in its place. This takes no key, and the tag shows it.
fn forged_sum() -> Lie {
    sums(|truth, request| {
        let honest = truth.tell(&request);
        let body = edited(honest.body.clone(), |frame| {
            let at = first_body(frame);
            // The resolution is 0.1.
            let value = u16::from_le_bytes([frame[at], frame[at + 1]]).wrapping_add(50);
            frame[at..at + 2].copy_from_slice(&value.to_le_bytes());
        });
        Reply { body, ..honest }
    })
}

/// Returns the position of the first sum's body in the frame of an answer: behind the stream, the names of the windows and
/// the facts of the sum (docs/concepts/wire.md).
fn first_body(frame: &[u8]) -> usize {
    let mut at = 16 + 32;
    let mut varint = |skipped: usize| {
        at += skipped;
        let first = at;
        while frame[at] & 0x80 != 0 {
            at += 1;
        }
        at += 1;
        frame[first..at].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f))
    };
    let starts = varint(0);
    let runs = varint(12 * starts);
    for _ in 0..3 * runs {
        varint(0);
    }
    // The number of sums; windows, ticks and parts of the first one, and the number of its first part.
    at + 4 + 12 + 1 + 1
}

/// Runs the owner's previous plan in place of this one.
fn other_plan() -> Lie {
    let mut plans: Vec<String> = Vec::new();
    Box::new(move |truth, mut request| {
        if request.is("PUT", "/v1/plans") {
            let reply = truth.tell(&request);
            let id = reply.json()["plan_id"].as_str().unwrap().to_owned();
            if !plans.contains(&id) {
                plans.push(id);
            }
            return reply;
        }
        if request.is("POST", "/v1/jobs") {
            let mut body = request.json();
            let asked = body["plan"].as_str().unwrap().to_owned();
            if let Some(other) = plans.iter().find(|plan| **plan != asked) {
                body["plan"] = json!(other);
            }
            request.body = body.to_string().into_bytes();
        }
        truth.tell(&request)
    })
}

/// Returns the first requested sums again and again.
fn replayed() -> Lie {
    let mut first = None;
    sums(move |truth, request| first.get_or_insert_with(|| truth.tell(&request)).clone())
}

//! Lies about the logs of streams.

use serde_json::{Value, json};
use sotto_keys::SigningIdentity;
use sotto_wire::{Forget, FromLog, Order, OrderParts, Ordered, StreamHead};

use super::Verdict::{Harmless, NotShown, Noted, Refused};
use super::{Case, at, replaced};
use crate::liar::{self, Lie, Reply, Request, edited};
use crate::world::{DAILY, TOTAL, World};

/// What a note says of windows that are gone without an order.
pub(crate) const DELETED: &str = "deleted from the cloud without an order of yours: window";

pub(super) fn is_log(request: &Request) -> bool {
    request.is("GET", "/v1/log") && request.path.contains("stream=exact")
}

/// A lie about the logs of streams of exact values, under a head that the cloud signs.
pub(super) fn log(edit: impl Fn(&mut Vec<Value>) + Send + 'static) -> Lie {
    Box::new(
        move |truth, request| {
            if is_log(&request) { truth.log(&request, &edit) } else { truth.tell(&request) }
        },
    )
}

/// Changes the frame of a signed header in a window of a log, and the leaf with it.
pub(super) fn signed(window: &mut Value, edit: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let frame = edit(hex::decode(window["signed"].as_str().unwrap()).unwrap());
    let leaf = blake3::hash(&[&[0][..], &frame].concat());
    window["leaf"] = json!(leaf.to_hex().as_str());
    window["signed"] = json!(hex::encode(frame));
}

/// Changes bytes of the third window's signed header, whose digest and leaf are made anew.
fn header(edit: impl Fn(&mut [u8]) + Send + 'static) -> Lie {
    log(move |windows| signed(&mut windows[2], |frame| edited(frame, &edit)))
}

/// Changes the range of a channel in the header of a stream, whose digest and that of the page are made anew.
fn re_ranged(page: Vec<u8>) -> Vec<u8> {
    let (old, new) = (100_f64.to_le_bytes(), 200_f64.to_le_bytes());
    let stream =
        page.windows(6).position(|bytes| bytes == b"sott\x01\x20").expect("the header of a stream of sums");
    let length = u64::from_le_bytes(page[stream + 8..stream + 16].try_into().unwrap()) as usize + 48;
    let header = replaced(page[stream..stream + length].to_vec(), &old, &new);
    edited(page, |page| page[stream..stream + length].copy_from_slice(&header))
}

/// Gives a window of another stream of the device in the place of the third one.
fn of_other_stream() -> Lie {
    Box::new(move |truth, request| {
        if !is_log(&request) {
            return truth.tell(&request);
        }
        let other = Request { path: request.path.replace("stream=exact", "stream=real"), ..request.clone() };
        let other = liar::page(&truth.tell(&other).body)["windows"][2].clone();
        truth.log(&request, |windows| windows[2] = other)
    })
}

/// Takes the third window away, as a cloud does at the owner's wish.
fn delete(windows: &mut [Value]) {
    let window = windows[2].as_object_mut().unwrap();
    window.remove("id");
    window.remove("signed");
    window["bytes"] = json!(0);
}

/// Changes the head of a log, which is signed with another key if `key` has one.
fn head(key: Option<[u8; 32]>, edit: impl Fn(&mut StreamHead) + Send + 'static) -> Lie {
    at(is_log, move |reply| {
        reply.with_page(|page| {
            let mut head = StreamHead::read(&hex::decode(page["head"].as_str().unwrap()).unwrap()).unwrap();
            edit(&mut head);
            let frame = match key {
                None => head.write().unwrap(),
                Some(key) => {
                    let other = sotto_keys::SigningIdentity::from_bytes(&key);
                    let (StreamHead { device, stream, size, root, signed_at, .. }, key) =
                        (head, other.verifying_key());
                    StreamHead::sign(&device, &stream, size, root, signed_at, key, |message| {
                        other.sign(message)
                    })
                    .unwrap()
                    .write()
                    .unwrap()
                }
            };
            page["head"] = json!(hex::encode(frame));
        })
    })
}

/// Changes the document of a log, whose head stays.
fn page(edit: impl Fn(&mut Value) + Send + 'static) -> Lie {
    at(is_log, move |reply| reply.with_page(&edit))
}

pub(super) fn all(world: &World) -> Vec<Case> {
    let mut cases = vec![
        Case::new("older database", DAILY, (Refused, "older database"), older(world)),
        Case::new(
            "dropped window, after it was seen",
            DAILY,
            (Refused, "older database"),
            log(|windows| {
                windows.pop();
            }),
        ),
        Case::new(
            "dropped window in the middle, after it was seen",
            DAILY,
            (Refused, "older database"),
            log(|windows| {
                windows.remove(2);
            }),
        ),
        Case::new(
            "dropped window and one more, after it was seen",
            DAILY,
            (Refused, "changed log"),
            log(|windows| {
                let last = windows.pop().unwrap();
                windows.remove(2);
                windows.push(last.clone());
                windows.push(last);
            }),
        ),
        Case::new(
            "dropped newest window, before it was seen",
            DAILY,
            (NotShown, ""),
            log(|windows| {
                windows.pop();
            }),
        )
        .fresh(),
        Case::new("an empty log", DAILY, (Refused, "older database"), log(Vec::clear)),
        Case::new(
            "dropped window, before it was seen",
            DAILY,
            (Refused, "other receipt"),
            log(|windows| {
                windows.remove(2);
            }),
        )
        .fresh(),
        Case::new(
            "dropped first window, before it was seen",
            DAILY,
            (Refused, "other receipt"),
            log(|windows| {
                windows.remove(0);
            }),
        )
        .fresh(),
        Case::new(
            "dropped correction, before it was seen",
            DAILY,
            (Refused, "other receipt"),
            log(|windows| {
                windows.remove(4);
            }),
        )
        .fresh(),
        Case::new(
            "dropped window that was replaced",
            DAILY,
            (Refused, "other receipt"),
            log(|windows| {
                windows.remove(1);
            }),
        )
        .fresh(),
        Case::new(
            "windows in another order, before they were seen",
            DAILY,
            (Refused, "other receipt"),
            log(|windows| {
                windows.swap(0, 3);
            }),
        )
        .fresh(),
        Case::new(
            "windows in another order, after they were seen",
            DAILY,
            (Refused, "changed log"),
            log(|windows| {
                windows.swap(0, 3);
            }),
        ),
        Case::new(
            "doubled window",
            DAILY,
            (Refused, "doubled window"),
            log(|windows| {
                windows.push(windows[2].clone());
            }),
        ),
        Case::new(
            "doubled window under another id",
            DAILY,
            (Refused, "doubled window"),
            log(|windows| {
                let mut twice = windows[2].clone();
                twice["id"] = json!("ab".repeat(16));
                windows.push(twice);
            }),
        ),
        Case::new(
            "doubled window under another number",
            DAILY,
            (Refused, "doubled window"),
            log(|windows| {
                let mut twice = windows[2].clone();
                twice["sequence"] = json!(77);
                windows.push(twice);
            }),
        ),
        Case::new(
            "a repeated id",
            DAILY,
            (Refused, "repeated name"),
            log(|windows| {
                windows[2]["id"] = windows[0]["id"].clone();
            }),
        )
        .fresh(),
        Case::new(
            "an id of zeros",
            DAILY,
            (Refused, "not all zero"),
            log(|windows| {
                windows[2]["id"] = json!("00".repeat(16));
            }),
        )
        .fresh(),
        Case::new(
            "no id",
            DAILY,
            (Harmless, ""),
            log(|windows| {
                windows[2].as_object_mut().unwrap().remove("id");
            }),
        )
        .fresh(),
        Case::new("exchanged window", DAILY, (Refused, "exchanged window"), of_other_stream()).fresh(),
        Case::new(
            "a window in the place of another",
            DAILY,
            (Refused, "doubled window"),
            log(|windows| {
                let (leaf, frame) = (windows[3]["leaf"].clone(), windows[3]["signed"].clone());
                (windows[2]["leaf"], windows[2]["signed"]) = (leaf, frame);
            }),
        )
        .fresh(),
        Case::new(
            "exchanged leaves",
            DAILY,
            (Refused, "changed log"),
            log(|windows| {
                let leaf = windows[3]["leaf"].clone();
                windows[2]["leaf"] = leaf;
            }),
        )
        .fresh(),
        Case::new(
            "re-ranged window",
            DAILY,
            (Refused, "changed window"),
            at(is_log, |reply| Reply {
                body: re_ranged(reply.body),
                headers: reply.headers,
                status: reply.status,
            }),
        )
        .fresh(),
        Case::new(
            "a signed header with another byte",
            DAILY,
            (Refused, "changed window"),
            header(|bytes| {
                let end = bytes.len();
                bytes[end - 100] ^= 1;
            }),
        )
        .fresh(),
        Case::new(
            "unsigned layout",
            DAILY,
            (Refused, "unsigned layout"),
            header(|bytes| {
                let end = bytes.len();
                bytes[end - 64..].fill(0);
            }),
        )
        .fresh(),
        Case::new(
            "another signature",
            DAILY,
            (Refused, "changed window"),
            header(|bytes| {
                let end = bytes.len();
                bytes[end - 1] ^= 1;
            }),
        )
        .fresh(),
        Case::new(
            "a window deleted without the owner",
            DAILY,
            (Noted, DELETED),
            log(|windows| delete(windows)),
        )
        .fresh(),
        Case::new(
            "a window that the cloud cannot read",
            DAILY,
            (Noted, "the cloud cannot read it any more"),
            log(|windows| {
                windows[2].as_object_mut().unwrap().remove("signed");
            }),
        )
        .fresh(),
        Case::new(
            "other bytes of a window",
            DAILY,
            (Harmless, ""),
            log(|windows| {
                windows[2]["bytes"] = json!(1_u64 << 40);
            }),
        )
        .fresh(),
        Case::new(
            "dropped windows under the old head",
            DAILY,
            (Refused, "doubled window"),
            page(|page| {
                let windows = page["windows"].as_array_mut().unwrap();
                if windows.len() > 2 {
                    windows.remove(2);
                }
            }),
        )
        .fresh(),
        Case::new("a head of more windows than there are", DAILY, (Refused, "dropped windows"), short(world))
            .fresh(),
        Case::new(
            "a head of 2^40 windows and more",
            DAILY,
            (Refused, "more than 2^40 windows"),
            resigned(world, |head| {
                head.size = u64::MAX;
            }),
        )
        .fresh(),
        Case::new(
            "another root in the head",
            DAILY,
            (Refused, "changed log"),
            resigned(world, |head| head.root[0] ^= 1),
        ),
        Case::new(
            "a head without a signature",
            DAILY,
            (Refused, "signature"),
            head(None, |head| head.root[0] ^= 1),
        ),
        Case::new(
            "the head of another device",
            DAILY,
            (Refused, "of another log"),
            resigned(world, |head| {
                head.device = "pump".to_owned();
            }),
        ),
        Case::new(
            "the head of another stream",
            DAILY,
            (Refused, "of another log"),
            resigned(world, |head| {
                head.stream = "real-1h".to_owned();
            }),
        ),
        Case::new("other signing key", DAILY, (Refused, "other cloud"), head(Some([9; 32]), |_| {})),
        Case::new(
            "no head",
            DAILY,
            (Refused, "head"),
            page(|page| {
                page["head"] = json!("");
            }),
        ),
        Case::new(
            "windows of another stream",
            DAILY,
            (Refused, ""),
            Box::new(|truth, mut request| {
                if is_log(&request) {
                    request.path = request.path.replace("stream=exact", "stream=real");
                }
                truth.tell(&request)
            }),
        ),
    ];
    cases.push(
        Case::new(
            "a window that was not yet there, of the newest time",
            TOTAL,
            (NotShown, ""),
            log(|windows| {
                windows.truncate(4);
            }),
        )
        .fresh(),
    );
    cases.extend([forged_order(), more_deleted()]);
    cases
}

/// A window is deleted, and an order shown for it that is signed with another key.
fn forged_order() -> Case {
    let mut asked: Option<Request> = None;
    let lie: Lie = Box::new(move |truth, request| {
        if is_log(&request) {
            asked = Some(request.clone());
            return truth.log(&request, |windows| delete(windows));
        }
        let Some(log) = asked.as_ref().filter(|_| request.is("GET", "/v1/orders")) else {
            return truth.tell(&request);
        };
        let is_first = request.path.ends_with("from=0");
        let page = liar::page(&truth.log(log, |windows| delete(windows)).body);
        let head = StreamHead::read(&hex::decode(page["head"].as_str().unwrap()).unwrap()).unwrap();
        let frame = order(&SigningIdentity::from_bytes(&[9; 32]), &head, 2);
        let first = json!({ "position": 0, "frame": hex::encode(frame) });
        Reply::of_json(&json!({ "orders": if is_first { vec![first] } else { Vec::new() } }))
    });
    Case::new("a window deleted under an order with another key", DAILY, (Noted, DELETED), lie).fresh()
}

/// Returns an order to delete one window of a log.
fn order(owner: &SigningIdentity, head: &StreamHead, position: u64) -> Vec<u8> {
    let from_log = Some(FromLog::of(head.size, head.root, [position]));
    let forget = Forget { stream: Some(head.stream.clone()), until: i64::MAX, next: head.size, from_log };
    let (key, device) = (owner.verifying_key(), head.device.clone());
    let parts = OrderParts { given_at: 1, owner: key, device, what: Ordered::Forget(forget) };
    Order::sign(parts, |message| owner.sign(message)).unwrap().write().unwrap()
}

/// After the owner forgot the first day and accepted the cloud's logs anew, the third day is said to be deleted too.
fn more_deleted() -> Case {
    let lie = log(|windows| delete(windows));
    let verdict = (Noted, DELETED);
    Case::new("more windows deleted than the owner forgot", DAILY, verdict, lie).running(&[
        &["forget", "--device", "meter", "--before", "2025-03-02", "--yes"],
        &["cloud", "accept", "meter"],
    ])
}

/// A cloud with an older database.
fn older(world: &World) -> Lie {
    let url = world.older.clone();
    Box::new(move |truth, request| {
        // It has the same owner and the same key.
        truth.at(&url).tell(&request)
    })
}

/// Signs the head of a log again, with the cloud's key.
fn resigned(world: &World, edit: impl Fn(&mut StreamHead) + Send + 'static) -> Lie {
    head(Some(world.signing_key), edit)
}

/// Says one window more than it gives, for ever.
fn short(world: &World) -> Lie {
    resigned(world, |head| head.size = 7)
}

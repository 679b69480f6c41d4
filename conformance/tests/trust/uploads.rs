//! Uploads that are edited on the way, and receipts that are not those of the messages.
//!
//! Each lie is told while a device sends a day. Then the device sends the next day to the true cloud, and messages that
//! were refused again; `sotto ask` shows the two days.

use serde_json::{Value, json};

use crate::liar::{self, Lie, Reply, Request, Truth};
use crate::lies::Verdict::{self, Harmless, NotShown, Refused};
use crate::world::{DAILY, World};

/// A lie to a device.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    lie: Lie,
    /// True if the next day goes to the lying cloud too.
    lasts: bool,
}

fn is_upload(request: &Request) -> bool {
    request.is("POST", "/v1/envelopes")
}

fn case(
    name: &'static str,
    verdict: Verdict,
    mut lie: impl FnMut(&Truth, Request) -> Reply + Send + 'static,
) -> Case {
    let lie: Lie = Box::new(
        move |truth, request| {
            if is_upload(&request) { lie(truth, request) } else { truth.tell(&request) }
        },
    );
    Case { name, verdict, lie, lasts: false }
}

/// A message of which some bytes are changed before the cloud gets it.
fn edited(name: &'static str, edit: impl Fn(&mut Vec<u8>) + Send + 'static) -> Case {
    case(name, Harmless, move |truth, mut request| {
        edit(&mut request.body);
        truth.tell(&request)
    })
}

/// A byte that lies this far before the end, where the signature is.
fn flipped(name: &'static str, before_end: usize) -> Case {
    edited(name, move |body| {
        let end = body.len();
        body[end - before_end] ^= 1;
    })
}

/// A refusal of a message that the cloud never sees.
fn refused(name: &'static str, status: u16, reason: &'static str) -> Case {
    case(name, Harmless, move |_, _| {
        let problem = json!({ "type": format!("urn:sotto:problem:{reason}"), "title": reason, "status": status, "detail": "so it is" });
        Reply { status, ..Reply::of_json(&problem) }
    })
}

/// A receipt that the cloud signs for a message that it throws away.
fn receipted(truth: &Truth, request: &Request) -> Reply {
    let key = request.headers.iter().find(|(name, _)| name == "idempotency-key").unwrap().1.clone();
    let mut names = key.split('.');
    let (device, stream) = (names.next().unwrap(), names.next().unwrap());
    let sequence = names.next().unwrap().parse().unwrap();
    let digest = sotto_wire::message_digest(&request.body).unwrap();
    let (position, stored_at) = (99, 1_741_000_000_000);
    let receipt = sotto_wire::Receipt { device, stream, sequence, digest, position, stored_at };
    let receipt = json!({
        "id": "ab".repeat(16), "digest": hex::encode(digest), "stored_at": stored_at, "duplicate": false,
        "position": position, "signature": hex::encode(truth.signature(&receipt)),
    });
    Reply { status: 201, ..Reply::of_json(&receipt) }
}

/// Tells the first message and its receipt in the place of all later ones.
fn first_of_all(edit: impl Fn(&mut Value, &Request) + Send + 'static) -> Lie {
    let mut first: Option<Reply> = None;
    Box::new(move |truth, request| {
        if !is_upload(&request) {
            return truth.tell(&request);
        }
        let Some(first) = &first else { return first.insert(truth.tell(&request)).clone() };
        let mut receipt = first.json();
        edit(&mut receipt, &request);
        Reply { body: receipt.to_string().into_bytes(), ..first.clone() }
    })
}

fn digest_of(request: &Request) -> Value {
    json!(hex::encode(sotto_wire::message_digest(&request.body).unwrap()))
}

/// Returns all lies.
pub(crate) fn all() -> Vec<Case> {
    let earlier = |name, edit: fn(&mut Value, &Request)| Case {
        name,
        verdict: Harmless,
        lie: first_of_all(edit),
        lasts: false,
    };
    let mut held: Option<Request> = None;
    vec![
        edited("another byte of the head", |body| body[12] ^= 1),
        flipped("another byte of the body", 64 + 8 + 20),
        flipped("another byte of the tag", 64 + 4),
        flipped("another byte of the signature", 3),
        edited("a message cut short", |body| {
            let end = body.len();
            body.truncate(end - 10);
        }),
        edited("bytes behind a message", |body| body.extend([0; 10])),
        edited("no bytes of a message", Vec::clear),
        case("another idempotency key", Harmless, |truth, mut request| {
            let key = request.headers.iter_mut().find(|(name, _)| name == "idempotency-key").unwrap();
            key.1.push('7');
            truth.tell(&request)
        }),
        case("a message that is repeated", Harmless, |truth, request| {
            truth.tell(&request);
            truth.tell(&request)
        }),
        case("a message that is stored, and no receipt", Harmless, |truth, request| {
            truth.tell(&request);
            Reply { status: 0, headers: Vec::new(), body: Vec::new() }
        }),
        case("a message that is stored, and an error", Harmless, |truth, request| {
            truth.tell(&request);
            Reply { status: 500, ..Reply::of_json(&json!({ "detail": "no" })) }
        }),
        case("a message held back, in the place of the next one", Harmless, move |truth, request| {
            let before = held.replace(request.clone()).unwrap_or(request);
            truth.tell(&before)
        }),
        case("a message of another device in the place of one", Harmless, |truth, request| {
            let other = truth.tell(&Request {
                method: "GET".to_owned(),
                path: "/v1/log?device=pump&stream=exact-1h".to_owned(),
                body: Vec::new(),
                ..request
            });
            Reply { status: 200, ..other }
        }),
        case("a message dropped, and no answer", Harmless, |_, _| Reply {
            status: 0,
            headers: Vec::new(),
            body: Vec::new(),
        }),
        earlier("a receipt of another window", |_, _| {}),
        earlier("a receipt of another window, with this one's digest", |receipt, request| {
            receipt["digest"] = digest_of(request);
        }),
        case("an older receipt of the same window", Harmless, |truth, request| {
            let mut reply = truth.tell(&request).json();
            reply["stored_at"] = json!(1);
            Reply::of_json(&reply)
        }),
        case("a receipt with another signature", Harmless, |truth, request| {
            let mut reply = truth.tell(&request).json();
            reply["signature"] = json!("00".repeat(64));
            Reply::of_json(&reply)
        }),
        case("a receipt without a signature", Harmless, |truth, request| {
            let mut reply = truth.tell(&request).json();
            reply.as_object_mut().unwrap().remove("signature");
            Reply::of_json(&reply)
        }),
        refused("a refusal for good", 400, "truncated"),
        refused("a message called forgotten", 410, "forgotten"),
        refused("a number called taken", 409, "sequence-taken"),
        refused("a tick called taken", 409, "tick-taken"),
        refused("a device called unknown", 403, "not-admitted"),
        refused("a full store", 507, "storage-full"),
        // The last ones: the receipts that the device names are wrong from here on, and the owner accepts that.
        case("a message dropped, with a receipt", Refused, |truth, request| receipted(truth, &request)),
        Case {
            lasts: true,
            ..case("all newest messages dropped, with receipts", NotShown, |truth, request| {
                receipted(truth, &request)
            })
        },
    ]
}

/// Tells each lie to a device. Returns the faults.
pub(crate) fn tried(world: &World, cases: Vec<Case>) -> Vec<String> {
    let mut faults = Vec::new();
    for Case { name, verdict, lie, lasts } in cases {
        let url = liar::start(&world.url, &world.signing_key, lie);
        let (day, kept) = world.send_day(&url);
        let (next, _) = world.send_day(if lasts { &url } else { &world.url });
        world.requeue();
        let days = [day, next];
        let plant = world.owner("uploads", false, &world.url);
        let asked = world.sotto(&plant, &["ask", DAILY, "--json"]);
        let document: Value = serde_json::from_str(&asked.text).unwrap_or_default();
        let shown = days.map(|day| world.mean_of(&document, day));
        let notes = document["notes"].to_string();
        let is = match shown {
            [Some(true), Some(true)] => Some(Harmless),
            [None, None] if asked.code == 0 => Some(NotShown),
            [None, None] if asked.text.contains("other receipt") => Some(Refused),
            _ => None,
        };
        if is == Some(Refused) {
            let done = world.sotto(&plant, &["cloud", "accept", "meter"]);
            assert_eq!(done.code, 0, "{}", done.text);
        }
        if is != Some(verdict) {
            faults.push(format!("uploads: {name}: {is:?} and not {verdict:?}: {shown:?}, {notes}; {kept}"));
        } else {
            println!("uploads {name:<60} {verdict:?}");
        }
    }
    faults
}

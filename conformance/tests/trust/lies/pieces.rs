//! Lies about pieces of open windows, the whole windows that come in their place, and amended windows.

use serde_json::{Value, json};

use super::Verdict::{Harmless, NotShown, Noted, Refused};
use super::logs::{log, signed};
use super::sums::{asks, frame, is_sums};
use super::{Case, at, http};
use crate::liar::{Lie, Request, edited};
use crate::world::{FLOW, FLOWED, World};

/// Says that the body of a window was dropped.
fn dropped(wanted: impl Fn(&Request) -> bool + Send + 'static) -> Lie {
    http::status(wanted, 410, "body-dropped")
}

/// Takes away the window of a number, as if it had never come.
fn without(number: u64) -> Lie {
    log(move |windows| windows.retain(|window| window["sequence"] != number))
}

/// Calls the window of a number deleted.
fn deleted(number: u64) -> Lie {
    log(move |windows| {
        let window = windows.iter_mut().find(|window| window["sequence"] == number).unwrap();
        let window = window.as_object_mut().unwrap();
        window.remove("id");
        window.remove("signed");
        window.insert("bytes".to_owned(), json!(0));
    })
}

/// Puts a number in the place of another.
fn exchange(all: &mut [Value], of: u64, by: u64) {
    // A question that takes sums of earlier answers may not ask for it.
    if let Some(at) = all.iter().position(|number| *number == json!(of)) {
        all[at] = json!(by);
    }
}

/// Asks for the sums of another window in the place of one, or of one more.
fn numbers(edit: impl Fn(&mut Vec<Value>) + Send + 'static) -> Lie {
    asks(move |body| {
        let runs = body["windows"].as_array().unwrap();
        let each = |run: &Value| {
            let (first, count) = (run[0].as_u64().unwrap(), run[1].as_u64().unwrap());
            (first..first + count).map(|number| json!(number)).collect::<Vec<_>>()
        };
        let mut all: Vec<Value> = runs.iter().flat_map(each).collect();
        let before = all.len();
        edit(&mut all);
        if all.len() != before {
            let last = body["sums"].as_array_mut().unwrap().last_mut().unwrap();
            let count = last["windows"][1].as_u64().unwrap() + all.len() as u64 - before as u64;
            last["windows"][1] = json!(count);
        }
        let runs: Vec<Value> = all.into_iter().map(|number| json!([number, 1])).collect();
        body["windows"] = json!(runs);
    })
}

/// A cloud that never got the whole window, so that the pieces have their bodies.
fn without_whole(world: &World) -> Lie {
    let older = world.older.clone();
    Box::new(move |truth, request| {
        let of_pump = request.path.contains("pump") || is_sums(&request);
        if of_pump { truth.at(&older).tell(&request) } else { truth.tell(&request) }
    })
}

pub(super) fn all(world: &World) -> Vec<Case> {
    let missing = (Noted, "missing by its number");
    let taken = (Noted, "deleted from the cloud without an order of yours: window");
    let other = (Refused, "other windows");
    let changed =
        |edit: fn(&mut [u8])| log(move |windows| signed(&mut windows[5], |frame| edited(frame, edit)));
    vec![
        Case::new("a piece dropped, whose whole window is there", FLOW, missing, without(1)).fresh(),
        Case::new("an empty piece dropped, whose whole window is there", FLOW, missing, without(2)).fresh(),
        Case::new("a piece of an open window dropped", FLOW, missing, without(5)).fresh(),
        Case::new("an empty piece of an open window dropped", FLOW, missing, without(6)).fresh(),
        Case::new("a piece dropped, after it was seen", FLOW, (Refused, "older database"), without(5)),
        Case::new("the whole window dropped, and the bodies of its pieces", FLOW, (Refused, ""), without(4))
            .fresh(),
        Case::new("the whole window dropped, and its pieces kept", FLOW, missing, without_whole(world))
            .fresh(),
        Case::new(
            "the whole window dropped after it was seen, and its pieces kept",
            FLOW,
            (Refused, "database"),
            without_whole(world),
        ),
        Case::new("the whole window called deleted", FLOW, (Refused, ""), deleted(4)).fresh(),
        Case::new("a piece called deleted, whose whole window is there", FLOW, taken, deleted(3)).fresh(),
        Case::new("a piece of an open window called deleted", FLOW, taken, deleted(7)).fresh(),
        Case::new("an amended window dropped, and the one before it kept", FLOW, missing, without(8)).fresh(),
        Case::new("an amended window called deleted", FLOW, taken, deleted(8)).fresh(),
        Case::new("the window before an amended one dropped", FLOW, missing, without(0)).fresh(),
        Case::new(
            "all pieces of the newest window dropped",
            FLOW,
            (NotShown, ""),
            log(|windows| windows.retain(|window| window["sequence"].as_u64().unwrap() < 5)),
        )
        .fresh(),
        Case::new(
            "the newest window that replaces another dropped",
            FLOW,
            (NotShown, ""),
            log(|windows| windows.retain(|window| window["sequence"].as_u64().unwrap() < 8)),
        )
        .fresh(),
        Case::new(
            "pieces before their windows, in another order",
            FLOW,
            (Harmless, ""),
            log(|windows| windows.reverse()),
        )
        .fresh(),
        Case::new(
            "a piece twice, under another number",
            FLOW,
            (Refused, "doubled window"),
            log(|windows| {
                let mut twice = windows[5].clone();
                twice["sequence"] = json!(77);
                twice["id"] = json!("ab".repeat(16));
                windows.push(twice);
            }),
        )
        .fresh(),
        Case::new(
            "a piece twice",
            FLOW,
            (Refused, "doubled window"),
            log(|windows| {
                let mut twice = windows[5].clone();
                twice["id"] = json!("ab".repeat(16));
                windows.push(twice);
            }),
        )
        .fresh(),
        Case::new(
            "a piece that is not called one",
            FLOW,
            (Refused, "changed window"),
            changed(|bytes| {
                let end = bytes.len();
                bytes[end - 70] ^= 0x20;
            }),
        )
        .fresh(),
        Case::new(
            "a whole window that names other pieces",
            FLOW,
            (Refused, ""),
            log(|windows| {
                let replaces = |frame: Vec<u8>| {
                    edited(frame, |bytes| bytes.iter_mut().rev().take(90).for_each(|byte| *byte ^= 1))
                };
                signed(&mut windows[4], replaces);
            }),
        )
        .fresh(),
        Case::new(
            "bodies dropped of windows that nothing replaces",
            FLOW,
            (Refused, "410"),
            dropped(is_sums),
        ),
        Case::new(
            "a whole window's body dropped",
            FLOWED,
            (Refused, "410"),
            dropped(|request| is_sums(request) || request.path.contains("/envelope")),
        ),
        Case::new(
            "a piece in the sum beside its whole window",
            FLOWED,
            (Refused, "number of windows of a sum"),
            numbers(|all| all.push(json!(5))),
        ),
        Case::new(
            "a piece left out of the sum",
            FLOWED,
            other,
            numbers(|all| all.retain(|number| *number != json!(5))),
        ),
        Case::new(
            "an empty piece left out of the sum",
            FLOWED,
            other,
            numbers(|all| all.retain(|number| *number != json!(6))),
        ),
        Case::new(
            "a piece of an open window in the place of another",
            FLOWED,
            other,
            numbers(|all| exchange(all, 7, 5)),
        ),
        Case::new(
            "the window before an amended one in the sum",
            FLOWED,
            other,
            numbers(|all| exchange(all, 8, 0)),
        ),
        Case::new(
            "another sum of pieces",
            FLOW,
            (Refused, "forged sum"),
            frame(|frame| {
                let end = frame.len();
                frame[end - 1] ^= 1;
            }),
        ),
        Case::new(
            "windows without their ids",
            FLOW,
            (Harmless, ""),
            at(super::logs::is_log, |reply| {
                reply.with_page(|page| {
                    for window in page["windows"].as_array_mut().unwrap() {
                        window.as_object_mut().unwrap().remove("id");
                    }
                })
            }),
        )
        .fresh(),
    ]
}

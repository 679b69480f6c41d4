//! Lies about sums.

use serde_json::{Value, json};

use super::Verdict::{Harmless, Refused};
use super::{Case, at};
use crate::liar::{Lie, Reply, Request, Truth, edited};
use crate::world::{DAILY, TOTAL};

const FORGED: (super::Verdict, &str) = (Refused, "forged sum");

pub(super) fn is_sums(request: &Request) -> bool {
    request.method == "POST" && request.path.starts_with("/v1/streams/") && request.path.ends_with("/sums")
}

/// A lie about sums.
fn sums(mut lie: impl FnMut(&Truth, Request) -> Reply + Send + 'static) -> Lie {
    Box::new(move |truth, request| if is_sums(&request) { lie(truth, request) } else { truth.tell(&request) })
}

/// Asks the true cloud another question.
pub(super) fn asks(edit: impl Fn(&mut Value) + Send + 'static) -> Lie {
    sums(move |truth, mut request| {
        let mut body = request.json();
        edit(&mut body);
        request.body = body.to_string().into_bytes();
        truth.tell(&request)
    })
}

/// Changes the frame of an answer, whose digest is made anew.
pub(super) fn frame(edit: impl Fn(&mut [u8]) + Send + 'static) -> Lie {
    at(is_sums, move |reply| Reply { body: edited(reply.body.clone(), &edit), ..reply })
}

/// Changes the bytes of an answer, digest and all.
fn bytes(edit: impl Fn(&mut Vec<u8>) + Send + 'static) -> Lie {
    at(is_sums, move |mut reply| {
        edit(&mut reply.body);
        reply
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

/// Adds a number to a place of the first sum. This takes no key, and the tag shows it.
fn added(place: usize, number: u16) -> Lie {
    frame(move |frame| {
        let at = first_body(frame) + place;
        let value = u16::from_le_bytes([frame[at], frame[at + 1]]).wrapping_add(number);
        frame[at..at + 2].copy_from_slice(&value.to_le_bytes());
    })
}

pub(super) fn all() -> Vec<Case> {
    let mut turn = 0;
    let sometimes = sums(move |truth, request| {
        turn += 1;
        let mut reply = truth.tell(&request);
        if turn % 2 == 1 {
            let end = reply.body.len() - 33;
            reply.body = edited(reply.body, |frame| frame[end] ^= 1);
        }
        reply
    });
    vec![
        Case::new("another sum", DAILY, FORGED, added(0, 50)),
        Case::new("another sum, by one step", DAILY, FORGED, added(0, 1)),
        Case::new("another sum, in a later place", DAILY, FORGED, added(12, 7)),
        Case::new("another sum of all windows", TOTAL, FORGED, added(0, 50)),
        Case::new(
            "another sum, its top bit",
            DAILY,
            FORGED,
            frame(|frame| frame[first_body(frame) + 1] ^= 0x80),
        ),
        Case::new(
            "a sum of zeros",
            DAILY,
            FORGED,
            frame(|frame| {
                let at = first_body(frame);
                frame[at..at + 24].fill(0);
            }),
        ),
        Case::new(
            "another tag",
            DAILY,
            FORGED,
            frame(|frame| {
                let end = frame.len();
                frame[end - 8] ^= 1;
            }),
        ),
        Case::new(
            "a tag of zeros",
            DAILY,
            FORGED,
            frame(|frame| {
                let end = frame.len();
                frame[end - 8..].fill(0);
            }),
        ),
        Case::new(
            "a tag beyond its range",
            DAILY,
            (Refused, "not the one that was asked for"),
            frame(|frame| {
                let end = frame.len();
                frame[end - 8..].fill(0xff);
            }),
        ),
        Case::new(
            "another count",
            DAILY,
            FORGED,
            frame(|frame| {
                // The last count stands before the last tag: 2·count in one byte.
                let end = frame.len();
                frame[end - 9] ^= 2;
            }),
        ),
        Case::new(
            "fewer windows in the sum",
            TOTAL,
            (Refused, "other windows"),
            asks(|body| {
                let runs = body["windows"].as_array_mut().unwrap();
                runs.pop();
                let count: u64 = runs.iter().map(|run| run[1].as_u64().unwrap()).sum();
                for sum in body["sums"].as_array_mut().unwrap() {
                    sum["windows"] = json!([0, count]);
                }
            }),
        ),
        Case::new(
            "one window twice in the sum",
            TOTAL,
            (Refused, "other windows"),
            asks(|body| {
                let run = body["windows"][0].clone();
                let last = body["windows"].as_array().unwrap().len() - 1;
                body["windows"][last] = run;
            }),
        ),
        Case::new(
            "windows exchanged in the sum",
            DAILY,
            (Refused, "other windows"),
            asks(|body| {
                body["windows"].as_array_mut().unwrap().swap(0, 1);
            }),
        ),
        Case::new(
            "a window that was replaced in the sum",
            DAILY,
            (Refused, "other windows"),
            asks(|body| {
                let runs = body["windows"].as_array_mut().unwrap();
                let corrected = runs.iter().position(|run| run[0] == 4).unwrap();
                runs[corrected] = json!([1, 1]);
            }),
        ),
        Case::new(
            "sums in another order",
            DAILY,
            (Refused, "other windows"),
            asks(|body| {
                body["sums"].as_array_mut().unwrap().swap(0, 1);
            }),
        ),
        Case::new(
            "a sum left out",
            DAILY,
            (Refused, "not the one that was asked for"),
            asks(|body| {
                body["sums"].as_array_mut().unwrap().pop();
            }),
        ),
        Case::new(
            "a sum of a day for another's",
            DAILY,
            (Refused, "other windows"),
            asks(|body| {
                let windows = body["sums"][1]["windows"].clone();
                body["sums"][0]["windows"] = windows;
            }),
        ),
        Case::new(
            "weights in the sum",
            TOTAL,
            FORGED,
            asks(|body| {
                let count = body["sums"][0]["windows"][1].as_u64().unwrap();
                let weights: Vec<i64> = (0..count as i64).map(|at| 1 + at % 2).collect();
                body["sums"][0]["weights"] = json!(weights);
            }),
        ),
        Case::new(
            "negative weights in the sum",
            TOTAL,
            FORGED,
            asks(|body| {
                let count = body["sums"][0]["windows"][1].as_u64().unwrap();
                body["sums"][0]["weights"] = json!(vec![-1; count as usize]);
            }),
        ),
        Case::new(
            "a part left out",
            DAILY,
            (Refused, "not the one that was asked for"),
            asks(|body| {
                for sum in body["sums"].as_array_mut().unwrap() {
                    let parts = sum["parts"].as_array_mut().unwrap();
                    parts.pop();
                    if parts.is_empty() {
                        parts.push(json!(1));
                    }
                }
            }),
        ),
        Case::new(
            "the sums of the question before",
            TOTAL,
            (Refused, "not the one that was asked for"),
            kept_sums(),
        )
        .after(&[DAILY]),
        Case::new("the same sums, before windows came", TOTAL, (Refused, "other windows"), kept_sums())
            .after(&[TOTAL])
            .grown(),
        Case::new(
            "another start in the names",
            DAILY,
            (Refused, "other windows"),
            frame(|frame| {
                frame[16 + 32 + 1] ^= 1;
            }),
        ),
        Case::new(
            "another stream in the answer",
            DAILY,
            (Refused, "not the one that was asked for"),
            frame(|frame| {
                frame[16] ^= 1;
            }),
        ),
        Case::new(
            "a sum cut short",
            DAILY,
            (Refused, "not the one that was asked for"),
            bytes(|body| {
                let end = body.len();
                body.truncate(end - 20);
            }),
        ),
        Case::new(
            "bytes behind a sum",
            DAILY,
            (Refused, "not the one that was asked for"),
            bytes(|body| {
                body.extend([0; 16]);
            }),
        ),
        Case::new("an empty sum", DAILY, (Refused, "not the one that was asked for"), bytes(Vec::clear)),
        Case::new(
            "a frame of another kind",
            DAILY,
            (Refused, "not the one that was asked for"),
            frame(|frame| {
                frame[6] ^= 1;
            }),
        ),
        Case::new(
            "a sum with a wrong digest",
            DAILY,
            (Refused, "not the one that was asked for"),
            bytes(|body| {
                let end = body.len();
                body[end - 1] ^= 1;
            }),
        ),
        Case::new("a lie in every other sum", DAILY, FORGED, sometimes),
        Case::new(
            "another time of computing",
            DAILY,
            (Harmless, ""),
            at(is_sums, |mut reply| {
                reply.headers.retain(|(name, _)| name != "sotto-evaluate-us");
                reply.headers.push(("sotto-evaluate-us".to_owned(), "18446744073709551615".to_owned()));
                reply
            }),
        ),
    ]
}

/// Returns the sums of the first request again and again.
fn kept_sums() -> Lie {
    let mut first = None;
    sums(move |truth, request| first.get_or_insert_with(|| truth.tell(&request)).clone())
}

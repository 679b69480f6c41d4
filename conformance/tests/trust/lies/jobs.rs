//! Lies about jobs: what carries no tag.

use serde_json::{Value, json};
use sotto_wire::{TranscriptParts, frame_digest};

use super::Verdict::{Harmless, Refused, Unchecked};
use super::{Case, at, document};
use crate::liar::{Lie, Reply, Request, edited};
use crate::world::{CURVE, GIVEN, OTHER};

fn is_state(request: &Request) -> bool {
    request.method == "GET" && request.path.starts_with("/v1/jobs/") && !is_output(request)
}

fn is_output(request: &Request) -> bool {
    request.path.contains("/outputs/")
}

/// A lie about the outputs of jobs and their digests in the transcript.
fn output(edit: impl Fn(Vec<u8>) -> Vec<u8> + Send + 'static) -> Lie {
    Box::new(move |truth, request| {
        if is_output(&request) {
            let mut reply = truth.tell(&request);
            reply.body = edit(reply.body);
            return reply;
        }
        if !is_state(&request) {
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

/// Writes another noise bound, as log2, into the header of an answer.
fn with_bound(frame: Vec<u8>, change: impl Fn(f64) -> f64) -> Vec<u8> {
    const AT: std::ops::Range<usize> = 84..92;
    edited(frame, |bytes| {
        let bound = f64::from_le_bytes(bytes[AT].try_into().unwrap());
        bytes[AT].copy_from_slice(&change(bound).to_le_bytes());
    })
}

/// A lie about the transcript, which the cloud signs.
fn transcript(edit: impl Fn(&mut TranscriptParts) + Send + 'static) -> Lie {
    Box::new(
        move |truth, request| {
            if is_state(&request) { truth.job(&request, &edit) } else { truth.tell(&request) }
        },
    )
}

/// A lie about the state of a job that is done.
fn done(edit: impl Fn(&mut Value) + Send + 'static) -> Lie {
    at(is_state, move |reply| if reply.json()["state"] == "done" { document(&reply, &edit) } else { reply })
}

/// A lie about the bytes of outputs.
fn bytes(edit: impl Fn(&mut Vec<u8>) + Send + 'static) -> Lie {
    at(is_output, move |mut reply| {
        edit(&mut reply.body);
        reply
    })
}

/// A job over other windows.
fn inputs(edit: impl Fn(&mut Vec<Value>) + Send + 'static) -> Lie {
    Box::new(move |truth, mut request| {
        if request.is("POST", "/v1/jobs") {
            let mut body = request.json();
            edit(body["inputs"].as_array_mut().unwrap());
            request.body = body.to_string().into_bytes();
        }
        truth.tell(&request)
    })
}

/// A limit on the bytes that a job holds.
fn limited(bytes: u64) -> Lie {
    at(
        |request| request.is("GET", "/v1/limits"),
        move |reply| document(&reply, |limits| limits["largest_job"] = json!(bytes)),
    )
}

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(
            "a changed ciphertext",
            CURVE,
            (Refused, "forged or damaged"),
            output(|frame| edited(frame, |bytes| bytes[200..1200].iter_mut().for_each(|byte| *byte ^= 0x5a))),
        ),
        Case::new(
            "a larger noise bound",
            CURVE,
            (Refused, "noise bound"),
            output(|frame| with_bound(frame, |bound| bound + 3.0)),
        ),
        Case::new(
            "a smaller noise bound",
            CURVE,
            (Unchecked, "forged answer"),
            output(|frame| with_bound(frame, |bound| bound - 3.0)),
        ),
        Case::new(
            "a noise bound that is no number",
            CURVE,
            (Refused, ""),
            output(|frame| with_bound(frame, |_| f64::NAN)),
        ),
        Case::new(
            "a slightly changed ciphertext",
            CURVE,
            (Unchecked, "forged answer"),
            output(|frame| {
                // A low bit of one residue: within the noise.
                edited(frame, |bytes| {
                    let at = bytes.len() / 2;
                    bytes[at] ^= 1;
                })
            }),
        ),
        Case::new("wrong key", CURVE, (Refused, "wrong key"), transcript(|parts| parts.key.0[0] ^= 1)),
        Case::new(
            "wrong evaluation keys",
            CURVE,
            (Refused, "wrong evaluation keys"),
            transcript(|parts| {
                parts.evaluation_keys = Some([7; 32]);
            }),
        ),
        Case::new(
            "no evaluation keys",
            CURVE,
            (Refused, "wrong evaluation keys"),
            transcript(|parts| {
                parts.evaluation_keys = None;
            }),
        ),
        Case::new(
            "other parameters",
            CURVE,
            (Refused, "other plan"),
            transcript(|parts| parts.parameters.0[0] ^= 1),
        ),
        Case::new(
            "other plan in the transcript",
            CURVE,
            (Refused, "other plan"),
            transcript(|parts| {
                parts.request[0] ^= 1;
            }),
        ),
        Case::new(
            "more windows in the transcript",
            CURVE,
            (Refused, "other windows"),
            transcript(|parts| {
                parts.inputs.count += 1;
            }),
        ),
        Case::new(
            "an output that the transcript does not name",
            CURVE,
            (Refused, "an output is not the one"),
            transcript(|parts| {
                parts.outputs[0][0] ^= 1;
            }),
        ),
        Case::new(
            "another output more in the transcript",
            CURVE,
            (Refused, "an output is not the one"),
            transcript(|parts| {
                let first = parts.outputs[0];
                parts.outputs.push(first);
            }),
        ),
        Case::new(
            "no output in the transcript",
            CURVE,
            (Refused, ""),
            transcript(|parts| parts.outputs.clear()),
        ),
        Case::new("other plan", CURVE, (Refused, "other plan"), other_plan()).after(&[OTHER]),
        Case::new(
            "no transcript",
            CURVE,
            (Refused, "transcript"),
            done(|state| {
                state.as_object_mut().unwrap().remove("transcript");
            }),
        ),
        Case::new(
            "a transcript without a signature",
            CURVE,
            (Refused, "signature"),
            done(|state| {
                let mut frame = hex::decode(state["transcript"].as_str().unwrap()).unwrap();
                frame = edited(frame, |bytes| {
                    let end = bytes.len();
                    bytes[end - 1] ^= 1;
                });
                state["transcript"] = json!(hex::encode(frame));
            }),
        ),
        Case::new("the transcript of another job", CURVE, (Refused, ""), other_transcript()).after(&[OTHER]),
        Case::new("the output of another job", CURVE, (Refused, "an output is not the one"), other_output())
            .after(&[OTHER]),
        Case::new(
            "truncated answer",
            CURVE,
            (Refused, "truncated answer"),
            bytes(|body| {
                let end = body.len();
                body.truncate(end - 100);
            }),
        ),
        Case::new(
            "bytes behind an answer",
            CURVE,
            (Refused, "truncated answer"),
            bytes(|body| body.extend([0; 8])),
        ),
        Case::new(
            "an answer with a wrong digest",
            CURVE,
            (Refused, ""),
            bytes(|body| {
                let end = body.len();
                body[end - 1] ^= 1;
            }),
        ),
        Case::new("an empty answer", CURVE, (Refused, "truncated answer"), bytes(Vec::clear)),
        Case::new(
            "fewer windows in the job",
            CURVE,
            (Refused, ""),
            inputs(|inputs| {
                inputs.pop();
            }),
        ),
        Case::new(
            "a window twice in the job",
            CURVE,
            (Refused, "other windows"),
            inputs(|inputs| {
                inputs[1] = inputs[0].clone();
            }),
        ),
        Case::new(
            "windows exchanged in the job",
            CURVE,
            (Refused, "other windows"),
            inputs(|inputs| inputs.swap(0, 1)),
        ),
        Case::new(
            "a job that failed",
            CURVE,
            (Refused, ""),
            done(|state| {
                *state = json!({ "state": "failed", "error": "no more memory" });
            }),
        ),
        Case::new(
            "a job without an end",
            CURVE,
            (Refused, "has not ended after 1 s"),
            at(is_state, |reply| document(&reply, |state| *state = json!({ "state": "running" }))),
        )
        .waiting("1s"),
        Case::new(
            "more outputs than there are",
            CURVE,
            (Harmless, ""),
            done(|state| state["outputs"] = json!(4_000_000_000_u32)),
        ),
        Case::new(
            "other counters",
            CURVE,
            (Harmless, ""),
            done(|state| {
                state["counters"] = json!({ "multiply": u64::MAX });
            }),
        ),
        Case::new(
            "a state that there is not",
            CURVE,
            (Refused, ""),
            done(|state| state["state"] = json!("nearly")),
        ),
        Case::new(
            "a limit that splits an answer for others into more results than were planned",
            GIVEN,
            (Refused, "more results of the flooding budget than planned"),
            limited(1),
        ),
        Case::new("a limit that splits jobs, for the owner alone", CURVE, (Harmless, ""), limited(1)),
        Case::new(
            "another job's name",
            CURVE,
            (Harmless, ""),
            done(|state| state["job"] = json!("ab".repeat(16))),
        ),
    ]
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

/// Gives the transcript of the owner's previous job.
fn other_transcript() -> Lie {
    let mut first: Option<Value> = None;
    Box::new(move |truth, request| {
        let reply = truth.tell(&request);
        if !is_state(&request) || reply.json()["state"] != "done" {
            return reply;
        }
        let own = reply.json()["transcript"].clone();
        let given = first.get_or_insert(own).clone();
        document(&reply, |state| state["transcript"] = given)
    })
}

/// Gives the output of the owner's previous job.
fn other_output() -> Lie {
    let mut first: Option<Reply> = None;
    Box::new(move |truth, request| {
        let reply = truth.tell(&request);
        if is_output(&request) { first.get_or_insert(reply).clone() } else { reply }
    })
}

//! The client against a hostile server, like a cloud under an attacker's control.

use crate::stand_in;

use std::ops::ControlFlow;
use std::sync::Arc;

use sotto_cloud_client::{CloudError, EnvelopeQuery, Interrupt, JobStage};
use stand_in::{answer, ok, serve};

fn envelope(device: &str, sequence: u64) -> String {
    format!(
        r#"{{"id":"{sequence:032x}","device":"{device}","stream":"load","sequence":{sequence},"parameter_id":"00",
        "key_id":"00","started_at":-1,"ended_at":2,"readings":3,"bytes":4,"stored_at":5,"layout":{{"b":[1.50]}}}}"#
    )
}

#[test]
fn refusals_are_facts_and_short_text() {
    let detail = format!("no\\u001b]0;title\\u0007{}", "x".repeat(1000));
    let problem = format!(r#"{{"type":"urn:sotto:problem:missing-key","title":"t","detail":"{detail}"}}"#);
    let (cloud, _) = serve(vec![
        answer(422, "", &problem),
        answer(502, "", "<html>"),
        answer(302, "location: http://127.0.0.1:1/\r\n", ""),
    ]);
    let error = cloud.submit("p", &[]).unwrap_err();
    assert!(error.refusal() == Some("missing-key") && !error.is_temporary());
    let CloudError::Refused { what: "the job", status: 422, kind, detail } = error else { panic!("{error}") };
    assert_eq!(kind, "urn:sotto:problem:missing-key");
    assert!(detail.starts_with("no]0;titlex") && detail.len() == 400, "{detail:?}");

    let busy = cloud.put_plan(&[]).unwrap_err();
    assert!(busy.is_temporary() && busy.refusal().is_none(), "{busy}");
    assert!(busy.to_string().ends_with("(502): no reason given"), "{busy}");
    // No redirect is followed, because the token is for this cloud alone.
    assert!(matches!(cloud.body("e").unwrap_err(), CloudError::Refused { status: 302, .. }));
    assert!(matches!(cloud.body("e").unwrap_err(), CloudError::Away { .. }), "nobody answers any more");
}

#[test]
fn answers_of_another_form_are_unreadable() {
    let (cloud, requests) = serve(vec![
        ok(r#"{"plan_id":"\u001b[2J"}"#),
        ok("[]"),
        ok(&format!("[{}]", envelope("../kitchen", 0))),
        ok(r#"{"state":"dancing"}"#),
    ]);
    let unreadable = |error: CloudError| assert!(matches!(error, CloudError::Unreadable { .. }), "{error}");
    unreadable(cloud.put_plan(&[]).unwrap_err());
    unreadable(cloud.envelope("../lock").unwrap_err());
    unreadable(cloud.envelopes(&EnvelopeQuery::default()).next().unwrap().unwrap_err());
    unreadable(cloud.wait("j", |_| ControlFlow::Continue(())).unwrap_err());
    assert_eq!(requests.lock().unwrap()[1], "GET /v1/envelopes/..%2Flock HTTP/1.1");
}

#[test]
fn answers_are_bounded() {
    // The second one announces more than will ever come: it is refused by its head.
    let announced = format!("HTTP/1.1 200 x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", 1_u64 << 45);
    let (cloud, _) = serve(vec![answer(200, "", &"x".repeat((64 << 20) + 1)), announced]);
    for _ in 0..2 {
        let error = cloud.output("j", 0).unwrap_err();
        assert_eq!(error, CloudError::TooLong { what: "the output", limit: 64 << 20 });
    }
}

#[test]
fn all_pages_are_followed_and_none_twice() {
    let page = |from: u64, next: &str| {
        let body = format!("[{},{}]", envelope("kitchen", from), envelope("kitchen", from + 1));
        answer(200, &format!("link: <{next}>; rel=\"next\"\r\n"), &body)
    };
    let (cloud, requests) =
        serve(vec![page(0, "?limit=2&after=kitchen/load/1"), ok(&format!("[{}]", envelope("kitchen", 2)))]);
    let query = EnvelopeQuery::of_device("kitchen");
    let all = cloud.envelopes(&query).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(all.iter().map(|envelope| envelope.sequence).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((all[0].started_at, all[0].layout.text()), (-1, r#"{"b":[1.50]}"#));
    assert_eq!(
        *requests.lock().unwrap(),
        [
            "GET /v1/envelopes?limit=500&device=kitchen HTTP/1.1",
            "GET /v1/envelopes?limit=2&after=kitchen/load/1 HTTP/1.1"
        ]
    );

    // A list without an end.
    let same = "?after=kitchen/load/1";
    let (cloud, _) = serve(vec![page(0, same), page(2, same)]);
    let mut listed = cloud.envelopes(&query);
    assert!(listed.by_ref().take(2).all(|envelope| envelope.is_ok()));
    assert!(matches!(listed.next(), Some(Err(CloudError::Unreadable { .. }))) && listed.next().is_none());
    let empty = answer(200, "link: <?after=a/b/1>; rel=\"next\"\r\n", "[]");
    let (cloud, _) = serve(vec![empty]);
    assert!(cloud.envelopes(&query).next().unwrap().is_err());
}

#[test]
fn a_wait_outlasts_a_restart_and_can_be_stopped() {
    let done = r#"{"state":"done","evaluate_us":7,"counters":{"add":2},"outputs":1}"#;
    let (cloud, _) = serve(vec![
        ok(r#"{"state":"running"}"#),
        String::new(),
        answer(503, "", "{}"),
        ok(done),
        ok(r#"{"state":"failed","error":"no\u001b space"}"#),
        ok(r#"{"state":"queued"}"#),
        answer(404, "", r#"{"type":"urn:sotto:problem:unknown-job"}"#),
    ]);
    let mut stages = Vec::new();
    let on_progress = |progress: &sotto_cloud_client::JobProgress| {
        stages.push(progress.stage);
        ControlFlow::Continue(())
    };
    let ended = cloud.wait("j", on_progress).unwrap();
    assert_eq!((ended.evaluate_us, ended.counters["add"], ended.outputs), (7, 2, 1));
    assert_eq!(stages, [JobStage::Running; 3], "the last stage known");

    let failed = cloud.wait("j", |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(failed, CloudError::JobFailed { job: "j".into(), reason: "no space".into() });
    let cancelled = cloud.wait("j", |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(cancelled, CloudError::Cancelled { job: "j".into() });
    let unknown = cloud.wait("j", |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(unknown.refusal(), Some("unknown-job"));
}

#[test]
fn an_interrupt_ends_a_wait_and_everything_after_it() {
    let running = || ok(r#"{"state":"running"}"#);
    let (cloud, requests) = serve(vec![running(), running(), running(), running()]);
    let asked = Arc::clone(&requests);
    let cloud = cloud.interrupted_by(Interrupt::when(move || asked.lock().unwrap().len() >= 3));
    let ended = cloud.wait("j", |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(ended, CloudError::Interrupted { what: "the job's state" });
    assert!(!ended.is_temporary());
    for refused in [cloud.limits().err(), cloud.put_plan(b"plan").err(), cloud.submit("p", &["w"]).err()] {
        assert!(matches!(refused, Some(CloudError::Interrupted { .. })), "{refused:?}");
    }
    assert!(matches!(cloud.give_order(b"order"), Err(CloudError::Interrupted { .. })));
    assert_eq!(requests.lock().unwrap().len(), 3, "nothing more is sent");
}

//! A lying cloud and an owner who verifies: real processes, and between them a proxy that has the cloud's signing key.
//!
//! `cargo ci trust` runs it; without the programs' folder in `SOTTO_PROGRAMS` it is skipped.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod alarms;
mod deletions;
mod device;
mod faults;
mod liar;
mod lies;
mod pieces;
mod uploads;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lies::{Case, Verdict};
use serde_json::Value;
use world::{CURVE, DAILY, World};

/// Returns the line of docs/concepts/trust.md about a lie.
fn line(kind: &str, name: &str, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Refused => "refused",
        Verdict::Noted => "noted",
        Verdict::Unchecked => "unchecked",
        Verdict::Harmless => "harmless",
        Verdict::NotShown => "**not shown**",
    };
    format!("| {kind} | {name} | {verdict} |")
}

/// Compares the table of docs/concepts/trust.md with the lies.
fn documented(lines: &BTreeSet<String>) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/concepts/trust.md");
    let text = std::fs::read_to_string(page).unwrap();
    let table = text.split("| about | lie | verdict |").nth(1).unwrap();
    let rows = table.trim_start().lines().skip(1).take_while(|line| line.starts_with('|'));
    let rows: BTreeSet<String> = rows.map(str::to_owned).collect();
    for (missing, page) in [(lines.difference(&rows), "lacks"), (rows.difference(lines), "has too many")] {
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        assert!(missing.is_empty(), "docs/concepts/trust.md {page}:\n{}", missing.join("\n"));
    }
}

#[test]
fn every_lie_has_its_verdict() {
    let Some(programs) = world::programs() else {
        eprintln!("skipped: SOTTO_PROGRAMS names no folder of programs; `cargo ci trust` sets it");
        return;
    };
    let world = World::new(&programs);
    honest(&world);
    let (mut rows, mut faults, mut number) = (Vec::new(), Vec::new(), 0);
    let mut answers: BTreeMap<&str, Honest> = BTreeMap::new();
    let kinds = lies::all(&world);
    let mut cases: Vec<(&str, Case)> =
        kinds.into_iter().flat_map(|(kind, cases)| cases.into_iter().map(move |case| (kind, case))).collect();
    let uploads = uploads::all();
    let all = cases.len() + uploads.len();
    let lines = cases.iter().map(|(kind, case)| line(kind, case.name, case.verdict));
    documented(&lines.chain(uploads.iter().map(|case| line("uploads", case.name, case.verdict))).collect());
    // Those that change the world come last, those that delete from it behind them.
    let deletes = |case: &Case| case.runs.iter().any(|command| command[0] == "forget");
    cases.sort_by_key(|(_, case)| (case.grows, deletes(case)));
    for (kind, case) in cases {
        if case.grows {
            answers.clear();
        }
        let honest =
            answers.entry(case.question).or_insert_with(|| honest_rows(&world, case.question)).clone();
        let (name, verdict, says) = (case.name, case.verdict, case.says);
        number += 1;
        match tried(&world, case, number, &honest) {
            Ok(message) => rows.push(format!("{kind:<5} {name:<50} {verdict:?}: {message}")),
            Err(message) => faults.push(format!("{kind}: {name} ({verdict:?}, {says:?}): {message}")),
        }
    }
    for row in &rows {
        println!("{row}");
    }
    deletions::told(&world);
    withheld(&world);
    receipts(&world);
    alarms::tried(&world);
    // These send many days.
    faults.extend(uploads::tried(&world, uploads));
    assert!(faults.is_empty(), "{} of {all} not as they should be:\n{}", faults.len(), faults.join("\n"));
    println!("{all} lies, each with its verdict");
    faults::tried(&world);
    deletions::ordered(&world);
    faults::retained(&world);
}

/// Without a lie every answer holds; prints the times of a job and of its verification.
fn honest(world: &World) {
    let url = liar::start(&world.url, &world.signing_key, Box::new(|truth, request| truth.tell(&request)));
    for (seen, question) in [(true, DAILY), (false, CURVE)] {
        let plant = world.owner("honest", seen, &url);
        let asked = world.sotto(&plant, &["ask", question]);
        assert_eq!(asked.code, 0, "{}", asked.text);
        let verified = world.sotto(&plant, &["verify", "--json"]);
        assert_eq!(verified.code, 0, "{}", verified.text);
        let document: Value = serde_json::from_str(&verified.text).unwrap();
        let answer = &document["answers"][0];
        assert_eq!(document["holds"], true, "{document}");
        println!(
            "{question}: the cloud's work {} µs, repeated in {} µs; verified in {:.3} s, {} bytes fetched",
            answer["cloud_us"],
            answer["repeat_us"],
            answer["seconds"].as_f64().unwrap(),
            answer["bytes"]
        );
        saved(world, &plant);
    }
}

/// Somebody without plant, cloud and secrets verifies the evidence that the owner saved, and detects a message that was
/// changed afterwards.
fn saved(world: &World, plant: &Path) {
    let done = world.sotto(plant, &["verify", "--save", "evidence"]);
    assert_eq!(done.code, 0, "{}", done.text);
    let (elsewhere, folder) = (tempfile::tempdir().unwrap(), plant.join("evidence"));
    let verify = || world.sotto(elsewhere.path(), &["verify", "--from", folder.to_str().unwrap()]);
    assert_eq!(verify().code, 0, "{}", verify().text);
    // Sums are checked by their tags when they are opened: nothing of them is saved.
    let Some(message) = std::fs::read_dir(folder.join("messages")).unwrap().next() else { return };
    let message = message.unwrap().path();
    let bytes = std::fs::read(&message).unwrap();
    // Changes a byte in the body, before the signature and the frame's digest.
    let changed = liar::edited(bytes, |bytes| {
        let at = bytes.len() - 70;
        bytes[at] ^= 1;
    });
    std::fs::write(&message, changed).unwrap();
    let done = verify();
    assert!(done.code == 7 && done.text.contains("changed window"), "{}", done.text);
}

/// Work that cannot be repeated is a finding on the third day: the cloud is away, or has no such windows any more.
fn withheld(world: &World) {
    let lie: liar::Lie = Box::new(|truth, request| {
        match request.is("GET", "/v1/log") && request.path.contains("device=meter") {
            true => truth.log(&request, |windows| drop(windows.pop())),
            false => truth.tell(&request),
        }
    });
    let gone = liar::start(&world.url, &world.signing_key, lie);
    for (name, url, accepts, says) in [
        ("a cloud away", "http://127.0.0.1:9", false, "cannot be reached"),
        ("a window that is in no log any more", &gone, true, "was not deleted from here"),
    ] {
        let plant = world.owner("withheld", false, &world.url);
        let asked = world.sotto(&plant, &["ask", CURVE]);
        assert_eq!(asked.code, 0, "{}", asked.text);
        world.asks_at(&plant, url);
        if accepts {
            let done = world.sotto(&plant, &["cloud", "accept", "meter"]);
            assert_eq!(done.code, 0, "{}", done.text);
        }
        let verify = || world.sotto(&plant, &["verify"]);
        for _ in 0..2 {
            let done = verify();
            assert_eq!(done.code, 6, "{name}: {}", done.text);
            assert!(done.text.contains(says) && done.text.contains("on 1 of 3 days"), "{}", done.text);
        }
        let days = plant.join("answers").join(format!("{}.open", world.latest_answer(&plant)));
        std::fs::write(&days, r#"{ "days": ["2025-04-01", "2025-04-02"] }"#).unwrap();
        let done = verify();
        assert_eq!(done.code, 8, "{name}: {}", done.text);
        assert!(done.text.contains("NOT REPEATED ON 3 DAYS") && done.text.contains(says), "{}", done.text);
        // Repeated once, the days are forgotten.
        world.asks_at(&plant, &world.url);
        assert_eq!(world.sotto(&plant, &["cloud", "accept", "meter"]).code, 0);
        assert_eq!(verify().code, 0, "{name}: {}", verify().text);
        assert!(!days.exists());
        println!("{name}: not repeated, and a finding on the third day");
    }
}

/// A device deletes its messages only for receipts of the pinned key.
fn receipts(world: &World) {
    let lie: liar::Lie = Box::new(|truth, request| {
        let mut reply = truth.tell(&request);
        if request.is("POST", "/v1/envelopes") {
            let mut document = reply.json();
            let mut receipts: Vec<&mut Value> = match &mut document {
                Value::Array(all) => all.iter_mut().collect(),
                one => vec![one],
            };
            receipts.iter_mut().for_each(|receipt| receipt["position"] = 9_999.into());
            reply.body = document.to_string().into_bytes();
        }
        reply
    });
    let (said, waits) = world.send_to(&liar::start(&world.url, &world.signing_key, lie));
    assert!(said.contains("not signed with the key of the cloud"), "{said}");
    assert!(waits, "the message has left the spool: {said}");
    println!("a receipt whose signature does not hold: the device keeps its message");
}

/// The rows of a question: value and count, by beginning and result.
type Honest = BTreeMap<(String, String), (Option<f64>, u64)>;

/// Returns a document of `sotto ask --json`. How far values are checked, which stands once where it is the same for all, stands in
/// each row then.
fn read(text: &str) -> serde_json::Result<Value> {
    let mut document: Value = serde_json::from_str(text)?;
    let of_all = document["assurance"].clone();
    if let (Value::String(_), Some(rows)) = (&of_all, document["rows"].as_array_mut()) {
        rows.iter_mut().for_each(|row| row["assurance"] = of_all.clone());
    }
    Ok(document)
}

fn rows_of(document: &Value) -> Vec<(&Value, (String, String))> {
    let rows = document["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let key = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("from"), text("name"))
    };
    rows.iter().map(|row| (row, key(row))).collect()
}

/// Returns the rows of an honest cloud.
pub(crate) fn honest_rows(world: &World, question: &str) -> Honest {
    values_of(&honest_answer(world, question))
}

/// Returns the highest number of a window that an answer is complete up to.
fn newest(document: &Value) -> Option<u64> {
    document["complete"].as_array()?.iter().filter_map(|complete| complete["number"].as_u64()).max()
}

/// Returns the answer of an honest cloud.
fn honest_answer(world: &World, question: &str) -> Value {
    let plant = world.owner("honest-rows", false, &world.url);
    let asked = world.sotto(&plant, &["ask", question, "--json", "--verify"]);
    assert_eq!(asked.code, 0, "{}", asked.text);
    // A line on standard error tells the bytes of the verification.
    read(&asked.text[..=asked.text.rfind('}').unwrap()]).unwrap()
}

/// Returns value and count of each row of an answer.
pub(crate) fn values_of(document: &Value) -> Honest {
    let value = |row: &Value| (row["value"].as_f64(), row["count"].as_u64().unwrap_or_default());
    rows_of(document).into_iter().map(|(row, key)| (key, value(row))).collect()
}

/// Returns true if the value of a row is another one within the bound of its noise: reals are rounded with randomness.
fn is_near(row: &Value, of: f64) -> bool {
    let noise = if row["assurance"] == "authenticated" {
        0.0
    } else {
        2.0 * row["bound"].as_f64().unwrap_or_default()
    };
    row["value"].as_f64().is_some_and(|value| (of - value).abs() <= 1e-9 * of.abs() + noise)
}

/// Returns the number in a document that is wrong and not marked, if there is one. A value of fewer readings, as it says
/// itself, is the value of these.
fn wrong(document: &Value, honest: &Honest) -> Option<String> {
    rows_of(document).into_iter().find_map(|(row, key)| {
        row["value"].as_f64()?;
        let (true_value, true_count) = honest.get(&key).copied().unwrap_or_default();
        let fewer = row["count"].as_u64().unwrap_or_default() < true_count;
        let is_true = true_value.is_some_and(|of| is_near(row, of));
        let assurance = row["assurance"].as_str().unwrap_or_default();
        (assurance == "unchecked" || !(is_true || fewer)).then(|| row.to_string())
    })
}

fn named_in(notes: &Value, says: &str) -> bool {
    let notes = notes.as_array().map_or(&[][..], Vec::as_slice);
    notes.iter().filter_map(Value::as_str).any(|note| note.contains(says))
}

/// Returns the words that named the lie, or the reason why none did.
fn tried(world: &World, case: Case, number: usize, honest: &Honest) -> Result<String, String> {
    let url = liar::start(&world.url, &world.signing_key, case.lie);
    let plant = world.owner(&format!("owner-{number}"), case.seen, &url);
    if let Some(limit) = case.waits {
        world.waits(&plant, limit);
    }
    let earlier = case.as_of.then(|| {
        world.asks_at(&plant, &world.url);
        let asked = world.sotto(&plant, &["ask", case.question, "--json"]);
        assert_eq!(asked.code, 0, "{}: {}", case.name, asked.text);
        world.asks_at(&plant, &url);
        let name = world.latest_answer(&plant);
        (name, values_of(&serde_json::from_str(&asked.text).unwrap()))
    });
    let honest = earlier.as_ref().map_or(honest, |(_, values)| values);
    for command in case.runs {
        // Logs are accepted as the lying cloud shows them.
        if command[0] != "cloud" {
            world.asks_at(&plant, &world.url);
        }
        let done = world.sotto(&plant, command);
        assert_eq!(done.code, 0, "{}: {}", case.name, done.text);
        world.asks_at(&plant, &url);
    }
    for question in case.before {
        let asked = world.sotto(&plant, &["ask", question, "--no-cache"]);
        assert_eq!(asked.code, 0, "{}: {}", case.name, asked.text);
    }
    if case.grows {
        world.send_more();
    }
    // A lie without effect is one if the answer is the true one after its work was repeated.
    let verify: &[&str] = if case.verdict == Verdict::Harmless { &["--verify"] } else { &[] };
    let as_of = earlier.as_ref().map_or_else(Vec::new, |(name, _)| vec!["--as-of", name]);
    let ask = |more: &[&str]| {
        world.sotto(&plant, &[&["ask", case.question, "--json"], verify, &as_of, more].concat())
    };
    // Sums of earlier answers are not asked for again, so that no lie about them is told.
    let asked = ask(&["--no-cache"]);
    let said = || format!("ask ended with {}: {}", asked.code, asked.text);
    let end = asked.text.rfind('}').ok_or_else(said)?;
    let document = read(&asked.text[..=end]).map_err(|_| said())?;
    let words = |of: &Value| match of {
        Value::Array(notes) => notes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(error) => vec![error.clone()],
        _ => Vec::new(),
    };
    // A note that windows are missing is the mark of an answer without them; so is the window that it is complete up to.
    let noted = case.verdict == Verdict::Noted && named_in(&document["notes"], case.says);
    let is_earlier =
        case.verdict == Verdict::NotShown && newest(&document) < newest(&honest_answer(world, case.question));
    if let Some(wrong) = wrong(&document, honest).filter(|_| !noted && !is_earlier) {
        return Err(format!("a wrong value without a mark: {wrong}"));
    }
    let same = || {
        let rows = rows_of(&document);
        let is_same = |row: &Value, key| match honest.get(key) {
            Some((Some(of), _)) => is_near(row, *of),
            Some((None, _)) => row["value"].is_null(),
            None => false,
        };
        rows.len() == honest.len() && rows.iter().all(|(row, key)| is_same(row, key))
    };
    // Nor is an answer wrong that takes them.
    if case.seen && matches!(case.verdict, Verdict::Refused | Verdict::Harmless) {
        let asked = ask(&[]);
        let document = asked.text.rfind('}').and_then(|end| read(&asked.text[..=end]).ok());
        if let Some(wrong) = document.and_then(|document| wrong(&document, honest)) {
            return Err(format!("a wrong value without a mark, with sums of earlier answers: {wrong}"));
        }
    }
    let named = |all: Vec<String>| all.into_iter().find(|line| line.contains(case.says));
    match case.verdict {
        Verdict::Refused if [4, 5, 6, 7].contains(&asked.code) => named(words(&document["error"])),
        Verdict::Noted if asked.code == 0 => named(words(&document["notes"])),
        Verdict::Harmless if asked.code == 0 => same().then(|| "the true answer".to_owned()),
        Verdict::NotShown if asked.code == 0 => Some("nothing shows it".to_owned()),
        Verdict::Unchecked if asked.code == 0 => {
            let verified = world.sotto(&plant, &["verify"]);
            if verified.code != 7 {
                return Err(format!("verify ended with {}: {}", verified.code, verified.text));
            }
            named(verified.text.lines().map(str::trim).map(str::to_owned).collect())
        }
        _ => None,
    }
    .ok_or_else(said)
}

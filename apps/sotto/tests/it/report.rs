//! `sotto report`: a page of questions, and a message with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::plant::Plant;
use crate::session;

const REPORT: &str = r#"
title = "The <barn>"
text = """First paragraph.

Second paragraph."""

[[section]]
heading = "Heat"
question = "daily"

[[section]]
heading = "Again"
question = "sum(heat), mean( flow ) by day"
chart = "number"

[[section]]
heading = "By hour"
question = "mean(heat) by weekday and hour of day"
chart = "both"
"#;

const WRONG: &str = r#"
[[section]]
heading = "Wrong"
question = "meen(heat)"
"#;

#[test]
fn a_report_has_its_sections_and_says_which_question_failed() {
    let plant = Plant::new();
    let folder = plant.folder();
    fs::write(folder.join("good.toml"), REPORT).unwrap();
    fs::write(folder.join("bad.toml"), format!("{REPORT}{WRONG}")).unwrap();
    let (code, said) = session::output(folder, &["report", "good.toml", "--html", "good.html"]);
    assert_eq!((code, said.as_str()), (0, "good.html: 3 sections\n"));
    let page = fs::read_to_string(folder.join("good.html")).unwrap();
    for part in [
        "<h1>The &lt;barn&gt;</h1>",
        "<p>Second paragraph.</p>",
        "<h2>Heat</h2>",
        "<code>sum(heat), mean(flow) by day</code>",
        "class=\"numbers\"",
        "<th>group</th>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // No other file, no network.
    assert!(!page.contains("src=") && !page.contains("href="));

    let (code, _) = session::output(folder, &["report", "bad.toml", "--html", "bad.html"]);
    assert_eq!(code, 4, "the code of the question that cannot be read");
    let page = fs::read_to_string(folder.join("bad.html")).unwrap();
    assert!(page.contains("did you mean mean?") && page.contains("<h2>By hour</h2>"), "{page}");
    // Nothing is kept.
    assert!(session::output(folder, &["answers"]).1.contains("no answer was kept"));
}

#[test]
fn a_report_needs_a_place_to_go_and_a_file_that_can_be_read() {
    let plant = Plant::new();
    let folder = plant.folder();
    fs::write(folder.join("good.toml"), REPORT).unwrap();
    let refused = session::sotto(folder, &["report", "good.toml"]).unwrap_err();
    assert!(refused.contains("--html") && refused.contains("--mail"), "{refused}");
    let refused = session::sotto(folder, &["report", "none.toml", "--html", "a"]).unwrap_err();
    assert!(refused.contains("none.toml"), "{refused}");
    let refused = session::sotto(folder, &["report", "good.toml", "--mail", "ann@h.example"]).unwrap_err();
    assert!(refused.contains("sotto alarm mail"), "{refused}");
}

/// Takes one message as a server of e-mail does, and returns its recipients and its lines.
fn serve(listener: TcpListener) -> Receiver<(Vec<String>, Vec<String>)> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let (mut to, mut text, mut is_text) = (Vec::new(), Vec::new(), false);
        write!(stream, "220 here\r\n").unwrap();
        while let Some(Ok(line)) = lines.next() {
            if is_text {
                is_text = line != ".";
                text.push(line);
                if !is_text {
                    write!(stream, "250 taken\r\n").unwrap();
                }
                continue;
            }
            let said = match line.get(..4).unwrap_or_default() {
                "DATA" => {
                    is_text = true;
                    text.clear();
                    "354 go on"
                }
                "RCPT" => {
                    to.push(line.clone());
                    "250 good"
                }
                "QUIT" => break,
                _ => "250 good",
            };
            write!(stream, "{said}\r\n").unwrap();
        }
        let _ = send.send((to, text));
    });
    receive
}

#[test]
fn a_report_is_sent_to_each_address() {
    let plant = Plant::new();
    let folder = plant.folder();
    fs::write(folder.join("good.toml"), REPORT).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("smtp://{}", listener.local_addr().unwrap());
    session::sotto(folder, &["alarm", "mail", "--server", &server, "--from", "barn@farm.example"]).unwrap();
    let taken = serve(listener);
    let to = "ann@farm.example, bo@farm.example";
    let said = session::sotto(folder, &["report", "good.toml", "--mail", to]).unwrap();
    assert_eq!(said, "sent to ann@farm.example, bo@farm.example\n");
    let (to, text) = taken.recv().unwrap();
    assert_eq!(to.len(), 2, "{to:?}");
    assert!(to[0].contains("ann@farm.example") && to[1].contains("bo@farm.example"), "{to:?}");
    let text = text.join("\n");
    assert!(text.contains("Subject: The <barn>") && text.contains("report.html"), "{text}");
}

#[test]
fn a_report_gives_parameters_their_values() {
    let plant = Plant::new();
    let folder = plant.folder();
    let text = "mean(heat), last(heat) where device in ($room)";
    session::sotto(folder, &["question", "add", "room", text]).unwrap();
    let planned = session::sotto(folder, &["plan"]).unwrap();
    assert!(planned.contains("last(heat): readings come down"), "{planned}");
    let report = "title = \"Rooms\"\n[[section]]\nquestion = \"room\"\n";
    for (name, with) in [
        ("none", ""),
        ("one", "with = { room = \"DEVICE\" }\n"),
        ("other", "with = { rom = \"DEVICE\", room = \"DEVICE\" }\n"),
    ] {
        fs::write(folder.join(name), format!("{report}{}", with.replace("DEVICE", "boiler"))).unwrap();
    }
    let (code, said) = session::output(folder, &["report", "one", "--html", "one.html"]);
    assert_eq!((code, said.as_str()), (0, "one.html: 1 section\n"));
    let page = fs::read_to_string(folder.join("one.html")).unwrap();
    assert!(page.contains("where device in (boiler)"), "{page}");
    for (name, says) in [("none", "with = { room = "), ("other", "no parameter rom")] {
        let html = format!("{name}.html");
        let (code, _) = session::output(folder, &["report", name, "--html", &html]);
        let page = fs::read_to_string(folder.join(html)).unwrap();
        assert!(code != 0 && page.contains(says) && !page.contains("sotto ask"), "{code}: {page}");
    }
}

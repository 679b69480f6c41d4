//! Events on their way to servers that others have written: of e-mail with TLS, STARTTLS and neither, of MQTT with TLS and
//! without, of HTTP.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::ask::{Cases, Site};
use super::super::venv::{Servers, Venv};
use super::events::until_delivered;
use super::file;

const SERVERS: &str = include_str!("servers.py");
const PACKAGES: [&str; 2] = ["aiosmtpd==1.4.6", "amqtt==0.12.1"];
/// The user of the servers; the password is that of servers.py.
const LOGIN: &str = "farm:p%40ss%3Aw%2F%C3%B6";

/// Nobody is called gone.
const PEOPLE: &str = "ann@farm.example, gone@farm.example, bo@farm.example";

/// Names the server of messages: scheme, which server, further options.
type Mail<'m> = dyn Fn(&str, &str, &[&str]) -> Result<String> + 'm;

/// Starts the servers.
fn servers(site: &Site, venv: &Venv) -> Result<Servers> {
    site.write("servers.py", SERVERS)?;
    let mut command = venv.python();
    command.arg("servers.py").args(["plant/tls/server.pem", "plant/tls/server.key", "taken.jsonl"]);
    command.current_dir(site.folder());
    Servers::start(command)
}

/// Returns what a server has taken.
fn taken(site: &Site, by: &str) -> Vec<Value> {
    let text = fs::read_to_string(site.folder().join("taken.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|one| one["by"] == by)
        .collect()
}

/// The name of an event without what an attempt adds.
fn event(of: &Value) -> String {
    of["event"]["id"].as_str().unwrap_or_default().to_owned()
}

fn faults(found: &impl std::fmt::Debug, right: bool) -> Vec<String> {
    if right { Vec::new() } else { vec![format!("{found:?}")] }
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let venv = Venv::new(&cases.sotto().ancestors().nth(2).context("no folder")?.join("sinks"))?;
    venv.install(&PACKAGES)?;
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.sotto(&["tls", "init", "--host", "localhost"])?;
    site.start_cloud()?;
    let servers = servers(&site, &venv)?;
    let channel =
        ["channel", "add", "temperature", "--unit", "°C", "--range", "-20..120", "--resolution", "0.5"];
    site.sotto(&[&channel[..], &["--every", "5m"]].concat())?;
    site.write_private("password", "p@ss:w/ö\n".as_bytes())?;
    let condition = ["temperature > 80 for 3 windows", "--since", "2026-05-04"];
    let early =
        site.try_sotto(&[&["alarm", "add", "early"], &condition[..], &["--mail", "ann@h"]].concat())?;
    let refused = !early.status.success() && early.stderr.contains("sotto alarm mail --server");
    cases.case("messages without a server are refused", faults(&early.stderr, refused));
    let dots = ["--mail", "ann@farm..example"];
    let wrong = site.try_sotto(&[&["alarm", "add", "dots"], &condition[..], &dots].concat())?;
    let refused = !wrong.status.success() && wrong.stderr.contains("is no address of a person");
    cases.case("an address that no message can be sent to is refused", faults(&wrong.stderr, refused));

    let mail = |scheme: &str, port: &str, more: &[&str]| -> Result<String> {
        let server = format!("{scheme}://farm@127.0.0.1:{}", servers.port(port));
        let server = if port == "starttls" { format!("{server}?starttls=yes") } else { server };
        let named = ["alarm", "mail", "--server", &server, "--from", "barn@farm.example"];
        site.sotto(&[&named[..], &["--password-file", "password"], more].concat())
    };
    mail("smtps", "smtps", &["--ca", "ca.pem"])?;
    let hook = format!("http://127.0.0.1:{}/hot", servers.port("webhook"));
    let topic =
        |scheme: &str, port: &str| format!("{scheme}://{LOGIN}@127.0.0.1:{}/farm/hot", servers.port(port));
    let (mqtt, mqtts) = (topic("mqtt", "mqtt"), topic("mqtts", "mqtts"));
    for (name, more) in [
        ("hot", vec!["--mail", PEOPLE, "--webhook", &hook, "--mqtt", &mqtt]),
        ("tls", vec!["--mqtt", &mqtts, "--ca", "ca.pem"]),
    ] {
        site.sotto(&[&["alarm", "add", name], &condition[..], &more].concat())?;
    }
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    let hours: Vec<Option<f64>> = [85.0, 85.5, 86.0, 70.0].into_iter().map(Some).collect();
    site.write("boiler.csv", file(&hours))?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    let first = site.try_sotto(&["watch", "--once"])?;
    let waits = first.stderr.contains("transient error (451)") && first.stderr.contains("503");
    cases.case("a refusal is told, and the event waits", faults(&first.stderr, waits));
    let gone = first.stderr.matches("gone@farm.example refuses the event").count();
    cases.case("an address that is refused for good is told", faults(&first.stderr, gone == 1));
    let all = || {
        let [mails, hooks, messages] = ["smtps", "webhook", "mqtt"].map(|by| taken(&site, by).len());
        (mails / 2).min(hooks).min(messages / 2)
    };
    until_delivered(&site, 2, &all)?;
    site.sotto(&["watch", "--once"])?;
    same_events(cases, &site);
    refusals(cases, &site, &mail)?;
    drop(servers);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Every server has each of the two events once, and the messages are for people.
fn same_events(cases: &mut Cases, site: &Site) {
    let hooked: Vec<String> = taken(site, "webhook").iter().map(event).collect();
    let by_topic: Vec<Value> = taken(site, "mqtt");
    let published = |alarm: &str| -> Vec<String> {
        by_topic.iter().filter(|one| one["event"]["alarm"] == alarm).map(event).collect()
    };
    cases.case("the webhook has each event once", faults(&hooked, hooked.len() == 2));
    cases.case("MQTT has the same events", faults(&published("hot"), published("hot") == hooked));
    cases.case("MQTT with TLS has each event once", faults(&by_topic, published("tls").len() == 2));
    let messages = taken(site, "smtps");
    for person in ["ann@farm.example", "bo@farm.example"] {
        let of = messages.iter().filter(|one| one["to"] == serde_json::json!([person]));
        let ids: Vec<String> = of.map(|one| one["id"].as_str().unwrap_or_default().to_owned()).collect();
        let same = ids.iter().zip(&hooked).filter(|(id, event)| id.contains(event.as_str())).count();
        cases.case(
            &format!("{person} has the same events, each once"),
            faults(&(&ids, &hooked), ids.len() == 2 && same == 2),
        );
    }
    let refused = taken(site, "refused");
    cases.case("a refused address is tried once for each event", faults(&refused, refused.len() == 2));
    let first = messages.first().cloned().unwrap_or_default();
    let right = first["from"] == "barn@farm.example"
        && first["to"] == serde_json::json!(["bo@farm.example"])
        && first["subject"].as_str().is_some_and(|subject| subject.starts_with("ALARM hot, boiler: "))
        && first["text"].as_str().is_some_and(|text| text.contains("temperature > 80 for 3 windows"))
        && first["login"] == true;
    cases.case("a message is for people", faults(&first, right));
}

/// Servers that do not take a message, and why.
fn refusals(cases: &mut Cases, site: &Site, mail: &Mail<'_>) -> Result<()> {
    let test = |words: &[&str]| -> Result<Vec<String>> {
        let told = site.try_sotto(&["alarm", "test", "hot"])?.stdout;
        let lines = told.lines().filter(|line| line.starts_with("mail: ")).collect::<Vec<_>>().join("; ");
        let right = words.iter().all(|word| lines.contains(word));
        Ok(faults(&lines, right))
    };
    mail("smtp", "starttls", &["--ca", "ca.pem"])?;
    test(&["451"])?;
    cases.case("STARTTLS", test(&["taken"])?);
    mail("smtps", "smtps", &[])?;
    cases.case("an authority that nobody named is refused", test(&["failed", "UnknownIssuer", "--ca FILE"])?);
    mail("smtps", "smtp", &["--ca", "ca.pem"])?;
    cases.case("a server without TLS gets nothing", test(&["failed", "smtp://"])?);
    fs::write(site.folder().join("password"), "other")?;
    mail("smtps", "smtps", &["--ca", "ca.pem"])?;
    cases.case("a wrong password is told", test(&["failed", "535"])?);
    Ok(())
}

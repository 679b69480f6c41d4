//! Answers that do not come from the cloud: a proxy, a login page, another server at the cloud's address.

use super::fixture::{self, holds, whole_days};
use super::http::Proxy;
use super::{Cases, Site};
use anyhow::Result;
use std::thread;
use std::time::{Duration, Instant};

/// Answers of other servers; the last one is a problem document that is not ours.
const ANSWERS: [(&str, &str); 7] = [
    (
        "302",
        "HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ),
    ("401", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlogin"),
    (
        "403",
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
    ),
    (
        "404",
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
    ),
    ("407", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    (
        "200",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
    ),
    (
        "422",
        "HTTP/1.1 422 Unprocessable\r\nContent-Type: application/problem+json\r\nContent-Length: 27\r\nConnection: close\r\n\r\n{\"type\":\"urn:other:refused\"}",
    ),
];

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 1))?;
    site.write("boiler.csv", fixture::days(0, 3))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    for (status, answer) in ANSWERS {
        let found = behind(&site, answer)?;
        cases.case(&format!("a proxy answers {status}: nothing is put aside"), found);
    }
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    cases.case("the proxies are gone: everything has arrived", whole_days(&site, 0..3)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Runs the agent behind a proxy until the proxy has answered twice.
fn behind(site: &Site, answer: &'static str) -> Result<Vec<String>> {
    let proxy = Proxy::start(answer)?;
    let mut agent = site.start_agent("boiler", &["--csv", "boiler.csv", "--cloud", &proxy.url])?;
    let begin = Instant::now();
    while proxy.asked() < 2 && begin.elapsed() < fixture::LONGEST {
        thread::sleep(Duration::from_millis(20));
    }
    let mut found = holds(proxy.asked() >= 2, || "the agent did not try again".to_owned());
    found.extend(holds(agent.end("TERM")?, || "the agent gave up".to_owned()));
    let status = site.agent_status("boiler")?;
    let refused = status["refused"].as_array().map_or(0, Vec::len);
    found.extend(holds(refused == 0, || format!("put aside: {status}")));
    Ok(found)
}

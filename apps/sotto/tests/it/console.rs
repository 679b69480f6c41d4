//! `sotto console` over HTTP: its sessions and refusals; its answers are those of the commands.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::session::{self, sotto};

/// A console that runs.
struct Console {
    process: Child,
    address: String,
    folder: PathBuf,
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An answer over HTTP: its status and its body.
type Answered = (u16, String);

impl Console {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(["console", "--no-browser", "--port", "0"]).args(options);
        command.current_dir(folder).env_remove("SOTTO_PLANT").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| Some(line.ok()?.split_once("http://")?.1.to_owned())).unwrap();
        // Its output is read to the end, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address, folder: folder.to_owned() }
    }

    /// Sends a request with these headers. An empty body is a GET.
    fn send(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let url = format!("http://{}{path}", self.address);
        let sent = if body.is_empty() {
            headers.iter().fold(agent.get(url), |request, (name, value)| request.header(*name, *value)).call()
        } else {
            let request = agent.post(url).header("content-type", "application/json");
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send(body)
        };
        let mut answer = sent.unwrap();
        let mut text = String::new();
        answer.body_mut().as_reader().take(1 << 20).read_to_string(&mut text).unwrap();
        (answer.status().as_u16(), text)
    }

    fn code(&self) -> String {
        sotto(&self.folder, &["console", "--code"]).unwrap().trim().to_owned()
    }

    fn session_by(&self, given: &Value) -> Result<String, Answered> {
        let (status, text) = self.send("/api/session", &[], &given.to_string());
        if status != 200 {
            return Err((status, text));
        }
        Ok(format!("Bearer {}", parsed(&text)["key"].as_str().unwrap()))
    }

    fn session(&self) -> String {
        self.session_by(&json!({"code": self.code()})).unwrap()
    }

    /// Sends a request in a session, and returns the JSON of its answer, or that of its last line.
    fn with(&self, session: &str, path: &str, body: &str) -> Value {
        let (status, text) = self.send(path, &[("authorization", session)], body);
        assert!(status < 300, "{path}: {status} {text}");
        parsed(text.lines().last().unwrap_or("null"))
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A plant with a device that has sent two days of readings, and its cloud.
fn plant() -> (tempfile::TempDir, Runtime) {
    let folder = tempfile::tempdir().unwrap();
    session::init(folder.path(), "mean(heat), max(heat) by day");
    let cloud = session::serve(folder.path());
    sotto(folder.path(), &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send(folder.path(), "boiler.bundle");
    (folder, cloud)
}

#[test]
fn without_a_session_nothing_is_told() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &[]);
    let files = folder.path().join("plant/console");
    for file in ["running", "open.html"] {
        let mode = fs::metadata(files.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let (status, page) = console.send("/", &[], "");
    assert!(status == 200 && page.contains("page.js"), "{page}");
    for path in ["/api/plant", "/api/now", "/api/events", "/api/keys", "/api/nothing", "/api/devices/boiler"]
    {
        assert_eq!(console.send(path, &[], "").0, 401, "{path}");
        assert_eq!(console.send(path, &[("authorization", "Bearer 00")], "").0, 401, "{path}");
    }
    assert_eq!(console.send("/api/ask", &[], r#"{"question":"daily"}"#).0, 401);
    assert_eq!(console.send("/api/code", &[("authorization", "Bearer 00")], "{}").0, 401);
    // The code of the file works once.
    let leads = fs::read_to_string(files.join("open.html")).unwrap();
    let code = leads.split("#code=").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let session = console.session_by(&json!({"code": code})).unwrap();
    assert_eq!(console.session_by(&json!({"code": code})).unwrap_err().0, 403);
    assert_eq!(console.session_by(&json!({"passphrase": "correct horse"})).unwrap_err().0, 403);
    assert_eq!(
        console.with(&session, "/api/plant", "")["devices"]["boiler"]["channels"],
        json!(["heat", "flow"])
    );
    console.send("/api/lock", &[("authorization", &session)], "{}");
    assert_eq!(console.send("/api/plant", &[("authorization", &session)], "").0, 401, "it is locked");
}

#[test]
fn other_pages_and_other_names_are_refused() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &[]);
    let session = console.session();
    let own = format!("http://{}", console.address);
    for (header, value, expected) in [
        ("host", "evil.example", 421),
        ("host", "127.0.0.1", 421),
        ("host", "localhost", 421),
        ("origin", "http://evil.example", 421),
        ("origin", "null", 421),
        ("origin", own.as_str(), 200),
        ("sec-fetch-site", "cross-site", 421),
        ("sec-fetch-site", "same-site", 421),
        ("sec-fetch-site", "same-origin", 200),
    ] {
        let (status, _) = console.send("/api/plant", &[("authorization", &session), (header, value)], "");
        assert_eq!(status, expected, "{header}: {value}");
        let (status, _) = console.send("/", &[(header, value)], "");
        assert_eq!(status, expected, "the page, {header}: {value}");
    }
    // The file with the code leads here from another place; a frame of another page does not.
    let opened = |path: &str, dest: &str| {
        let headers =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", dest)];
        console.send(path, &[&headers[..], &[("authorization", session.as_str())]].concat(), "").0
    };
    assert_eq!([opened("/", "document"), opened("/", "iframe")], [200, 421]);
    assert_eq!([opened("/api/plant", "document"), opened("/page.js", "document")], [421, 421]);
    assert_eq!(console.send("/", &[], "{}").0, 405);
    let large = json!({"question": "x".repeat(70_000)}).to_string();
    assert_eq!(console.send("/api/ask", &[("authorization", &session)], &large).0, 413);
}

#[test]
#[cfg(target_os = "linux")]
fn connections_without_a_request_take_few_places_and_not_for_long() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &[]);
    let session = console.session();
    let files = || fs::read_dir(format!("/proc/{}/fd", console.process.id())).unwrap().count();
    let before = files();
    let idle: Vec<_> =
        (0..300).map(|_| std::net::TcpStream::connect(console.address.as_str()).unwrap()).collect();
    let ends = std::time::Instant::now() + std::time::Duration::from_secs(60);
    // Places come back once no head has come for ten seconds, though the connections are still open here.
    let answered = loop {
        assert!(files() < before + 80, "{} files, {before} before", files());
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let asked =
            agent.get(format!("http://{}/api/now", console.address)).header("authorization", &session);
        if let Ok(answer) = asked.call() {
            break answer.status().as_u16();
        }
        assert!(std::time::Instant::now() < ends, "idle connections keep all places");
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    assert_eq!(answered, 200);
    drop(idle);
}

#[test]
#[cfg(target_os = "linux")]
fn another_user_of_the_machine_reads_nothing() {
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let (folder, _cloud) = plant();
    // Modes of the console's own files alone protect them.
    for path in [folder.path(), &folder.path().join("plant")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let console = Console::start(folder.path(), &[]);
    let own = fs::read_to_string(folder.path().join("plant/console/open.html")).unwrap();
    let code = own.split("#code=").nth(1).unwrap().split('"').next().unwrap();
    let as_other = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).current_dir("/").uid(NOBODY).gid(NOBODY).output()
    };
    let Ok(own_name) = as_other("id", &["-u"]) else {
        println!("skipped: only root becomes another user");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&own_name.stdout).trim(), NOBODY.to_string());
    for file in ["running", "open.html"] {
        let path = folder.path().join("plant/console").join(file);
        let read = as_other("cat", &[path.to_str().unwrap()]).unwrap();
        assert!(!read.status.success() && read.stdout.is_empty(), "{file}: {read:?}");
    }
    let process = console.process.id();
    for file in ["cmdline", "environ", "fd", "maps", "mem"] {
        let script =
            format!("cat /proc/{process}/{file} 2>/dev/null; ls -l /proc/{process}/{file}/ 2>/dev/null");
        let read = as_other("sh", &["-c", &script]).unwrap().stdout;
        let text = String::from_utf8_lossy(&read);
        assert!(!text.contains(code) && (file == "cmdline" || text.is_empty()), "{file}: {text}");
    }
}

#[test]
fn its_answers_are_those_of_the_commands() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &[]);
    let session = console.session();
    let asked = console.with(&session, "/api/ask", r#"{"question":"daily"}"#);
    let command: Value = parsed(&sotto(folder.path(), &["ask", "daily", "--json"]).unwrap());
    assert_eq!(asked["answer"]["rows"], command["rows"]);
    assert_eq!(asked["answer"]["rows"].as_array().unwrap().len(), 4);
    let hourly = console.with(&session, "/api/ask", r#"{"question":"daily","by":"month"}"#);
    assert_eq!(hourly["answer"]["rows"].as_array().unwrap().len(), 2);
    // It is kept, and verified.
    let name = asked["name"].as_str().unwrap();
    let verified = console.with(&session, &format!("/api/answers/{name}/verify"), "{}");
    assert_eq!(verified["verified"]["holds"], true, "{verified}");
    let refused = console.with(&session, "/api/ask", r#"{"question":"mean(heat), mena(flow)"}"#);
    assert_eq!(refused["refused"]["column"], 12, "{refused}");
    let now = console.with(&session, "/api/now", "");
    assert_eq!(now["devices"][0]["channels"][0]["readings"], 48, "{now}");
    let csv = console.send("/api/export/csv", &[("authorization", &session)], r#"{"question":"daily"}"#).1;
    sotto(folder.path(), &["ask", "daily", "--csv", "rows.csv"]).unwrap();
    assert_eq!(csv, fs::read_to_string(folder.path().join("rows.csv")).unwrap());
    // One window as the cloud and as its owner see it.
    let windows = console.with(&session, "/api/devices/boiler/windows", "");
    let window = &windows.as_array().unwrap()[0];
    let path =
        format!("/api/devices/boiler/windows/{}/{}", window["stream"].as_str().unwrap(), window["number"]);
    let seen = console.with(&session, &path, "");
    let readings = seen["owner"]["channels"][0]["values"].as_array().unwrap();
    let values: Vec<f64> = readings.iter().filter_map(|reading| reading["value"].as_f64()).collect();
    assert_eq!(values.len() as u64, window["readings"].as_u64().unwrap() / 2, "{seen}");
    assert!(values.iter().all(|value| (0.0..4.8).contains(value)), "{values:?}");
}

#[test]
fn it_writes_what_the_commands_read_and_reads_what_they_write() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &[]);
    let session = console.session();
    let new =
        |dry: bool| json!({"name": "peaks", "question": "max(flow) by day", "dry_run": dry}).to_string();
    let priced = console.with(&session, "/api/questions", &new(true));
    assert!(priced["lines"][0].as_str().unwrap().contains("bytes a day"), "{priced}");
    assert!(!sotto(folder.path(), &["question", "list"]).unwrap().contains("peaks"));
    console.with(&session, "/api/questions", &new(false));
    assert!(sotto(folder.path(), &["question", "list"]).unwrap().contains("peaks: max(flow) by day"));
    // A command beside it.
    sotto(folder.path(), &["question", "add", "sums", "sum(flow) by day"]).unwrap();
    let declared = console.with(&session, "/api/plant", "");
    assert_eq!(declared["questions"]["sums"]["by"], "day", "{declared}");
    let again = console.send("/api/questions", &[("authorization", &session)], &new(false));
    assert_eq!(again.0, 422, "{again:?}");
    // Names that would be paths are refused.
    for (path, body) in [
        ("/api/devices/..%2Fenrolments%2Fboiler/windows", ""),
        ("/api/devices/..%2Fenrolments%2Fboiler/renew", r#"{"dry_run":true}"#),
        ("/api/devices", r#"{"name":"../../attic","channels":["heat"],"dry_run":true}"#),
    ] {
        let (status, text) = console.send(path, &[("authorization", &session)], body);
        assert!(matches!(status, 404 | 422) && !text.contains("damaged"), "{path}: {status} {text}");
    }
    // A device, whose bundle only its owner reads.
    let added = console.with(
        &session,
        "/api/devices",
        &json!({"name": "attic", "channels": ["heat"], "dry_run": false}).to_string(),
    );
    let file = PathBuf::from(added["file"].as_str().unwrap());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    console.send("/api/devices/attic/rename", &[("authorization", &session)], r#"{"name":"loft"}"#);
    assert!(sotto(folder.path(), &["device", "list"]).unwrap().contains("loft: heat"));
    console.send("/api/devices/loft/remove", &[("authorization", &session)], "{}");
    assert!(!sotto(folder.path(), &["device", "list"]).unwrap().contains("loft"));
}

#[test]
fn a_console_that_only_reads_writes_nothing() {
    let (folder, _cloud) = plant();
    let console = Console::start(folder.path(), &["--read-only"]);
    let session = console.session();
    let before = fs::read_to_string(folder.path().join("plant/sotto.toml")).unwrap();
    for (path, body) in [
        ("/api/questions", r#"{"name":"a","question":"max(flow)","dry_run":false}"#),
        ("/api/devices", r#"{"name":"a","channels":["heat"],"dry_run":false}"#),
        ("/api/devices/boiler/renew", r#"{"dry_run":false}"#),
        ("/api/devices/boiler/rename", r#"{"name":"kettle"}"#),
        ("/api/devices/boiler/remove", "{}"),
        ("/api/alarms/hot/mute", r#"{"for_ms":1000}"#),
        ("/api/answers/20260101T000000.000Z/verify", "{}"),
    ] {
        assert_eq!(console.send(path, &[("authorization", &session)], body).0, 403, "{path}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("plant/sotto.toml")).unwrap(), before);
    let asked = console.with(&session, "/api/ask", r#"{"question":"daily"}"#);
    assert!(asked["answer"]["rows"].is_array() && asked["name"].is_null(), "{asked}");
    assert!(!sotto(folder.path(), &["answers"]).unwrap().contains("mean(heat)"));
}

#[test]
fn the_passphrase_opens_the_page_and_the_plant() {
    let (folder, _cloud) = plant();
    let passphrase = folder.path().join("passphrase");
    sotto_keys::make_private(&passphrase, b"correct horse\n").unwrap();
    let file = passphrase.to_str().unwrap();
    sotto(folder.path(), &["passphrase", "set", "--passphrase-file", file]).unwrap();
    let console = Console::start(folder.path(), &[]);
    let wrong = console.session_by(&json!({"passphrase": "wrong horse!"})).unwrap_err();
    assert!(wrong.0 == 422 && wrong.1.contains("passphrase"), "{wrong:?}");
    let soon = console.session_by(&json!({"passphrase": "correct horse"})).unwrap_err();
    assert_eq!(soon.0, 429, "one a second, fewer after wrong ones");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let session = console.session_by(&json!({"passphrase": "correct horse"})).unwrap();
    let asked = console.with(&session, "/api/ask", r#"{"question":"daily"}"#);
    assert!(asked["answer"]["rows"].is_array(), "{asked}");
}

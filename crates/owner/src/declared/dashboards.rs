//! Dashboards and the port of `sotto console` in `sotto.toml`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The port of `sotto console`, unless `sotto.toml` says otherwise.
const PORT: u16 = 7466;

/// The lowest port that a process without privileges may open.
const LEAST_PORT: u16 = 1024;

/// A dashboard: questions in the order in which they are shown.
///
/// ```
/// use sotto_owner::settings::{ConsoleSettings, DashboardSettings, Settings};
///
/// let settings = Settings::parse(r#"
///     version = 1
///     cloud = { url = "http://127.0.0.1:7410" }
///     channels.heat = { unit = "kW", range = "0..10", resolution = 0.1, every = "1h" }
///     questions.daily = "mean(heat) by day"
///     dashboards.main = { questions = ["daily"] }
/// "#)?;
/// let main: &DashboardSettings = &settings.dashboards["main"];
/// assert_eq!(main.questions, ["daily"]);
/// assert_eq!(settings.console, ConsoleSettings { port: 7466 });
/// # Ok::<(), sotto_owner::settings::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DashboardSettings {
    /// Names of declared questions.
    pub questions: Vec<String>,
}

impl DashboardSettings {
    /// Returns the reason why the dashboard is refused, with the way out. `is_declared` tells the declared questions.
    pub(super) fn check(&self, is_declared: impl Fn(&str) -> bool) -> Result<(), String> {
        if self.questions.is_empty() {
            return Err("it has no questions: name at least one, or remove its table".to_owned());
        }
        let mut seen = BTreeSet::new();
        for name in &self.questions {
            if !is_declared(name) {
                return Err(format!(
                    "there is no question {name}: declare it with `sotto question add {name}`, or take it out of the list"
                ));
            }
            if !seen.insert(name) {
                return Err(format!("question {name} stands twice in the list"));
            }
        }
        Ok(())
    }
}

/// Settings of `sotto console`.
///
/// Example: [`DashboardSettings`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// The port on loopback, 1024 to 65535.
    #[serde(default = "port")]
    pub port: u16,
}

fn port() -> u16 {
    PORT
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self { port: PORT }
    }
}

impl ConsoleSettings {
    /// Returns the reason why the port is refused.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.port >= LEAST_PORT {
            return Ok(());
        }
        Err(format!("port {} is one of the system: choose one from {LEAST_PORT} to {}", self.port, u16::MAX))
    }

    /// Returns true for the settings of a plant that says nothing of the console.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use crate::declared::edit;
    use crate::declared::settings::Settings;

    const WHOLE: &str = r#"version = 1
[cloud]
url = "http://127.0.0.1:7410"
[channels.heat]
unit = "kW"
range = [0, 10]
resolution = 0.1
every = "1h"
[questions]
daily = "mean(heat) by day"
peak = "max(heat) by day"
"#;

    #[test]
    fn wrong_dashboards_and_ports_are_refused_by_their_place() {
        for (table, says) in [
            ("[dashboards.main]\nquestions = [\"peak\", \"daily\"]", ""),
            ("[dashboards]\nmain.questions = [\"peak\"]\ncellar.questions = [\"peak\"]", ""),
            ("[dashboards.main]\nquestions = [\"dialy\"]", "dashboards.main: there is no question dialy"),
            (
                "[dashboards.main]\nquestions = [\"daily\", \"daily\"]",
                "dashboards.main: question daily stands",
            ),
            ("[dashboards.main]\nquestions = []", "dashboards.main: it has no questions"),
            ("[dashboards.main]", "missing field `questions`"),
            ("[dashboards.main]\nquestoins = [\"daily\"]", "questoins"),
            ("[dashboards.\"a b\"]\nquestions = [\"daily\"]", "a name has 1 to 64"),
            ("[console]", ""),
            ("[console]\nport = 8000", ""),
            ("[console]\nport = 1023", "console: port 1023 is one of the system"),
            ("[console]\nport = 65536", "65536"),
            ("[console]\nprot = 8000", "prot"),
        ] {
            match Settings::parse(&format!("{WHOLE}{table}\n")) {
                Ok(_) => assert!(says.is_empty(), "{table} is accepted"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!says.is_empty() && text.contains(says), "{table}: {text}");
                }
            }
        }
    }

    #[test]
    fn the_port_is_7466_unless_it_is_set() {
        assert_eq!(Settings::parse(WHOLE).expect("a file").console.port, 7466);
        let set = Settings::parse(&format!("{WHOLE}[console]\nport = 8000\n")).expect("a file");
        assert_eq!(set.console.port, 8000);
        // What `serde` writes is read again.
        let text = toml::to_string(&set).expect("TOML");
        assert_eq!(Settings::parse(&text).expect("a file"), set);
    }

    #[test]
    fn dashboards_are_set_and_lose_questions_that_are_removed() {
        let mut document: DocumentMut = format!("{WHOLE}# the end\n").parse().expect("TOML");
        let set = |document: &mut DocumentMut, name: &str, questions: &[&str]| {
            let questions: Vec<String> = questions.iter().map(|name| (*name).to_owned()).collect();
            edit::set_dashboard(document, name, &questions).expect("set");
            Settings::parse(&document.to_string()).expect("a file")
        };
        set(&mut document, "main", &["daily", "peak"]);
        let settings = set(&mut document, "cellar", &["peak"]);
        assert_eq!(settings.dashboards["main"].questions, ["daily", "peak"]);
        let settings = set(&mut document, "main", &["peak", "daily"]);
        assert_eq!(settings.dashboards["main"].questions, ["peak", "daily"], "in the new order");
        assert!(document.to_string().contains("# the end"));
        edit::remove_question(&mut document, "peak").expect("removed");
        let settings = Settings::parse(&document.to_string()).expect("a file");
        assert_eq!(settings.dashboards["main"].questions, ["daily"]);
        assert!(!settings.dashboards.contains_key("cellar"), "it had no other question");
        let settings = set(&mut document, "main", &[]);
        assert!(settings.dashboards.is_empty());
        set(&mut document, "none", &[]);
        assert!(!document.to_string().contains("dashboards"), "{document}");
    }

    #[test]
    fn a_dashboard_keeps_the_comments_around_its_list() {
        let table = "[dashboards.main] # of the hall\nquestions = [\"daily\"] # by hand\n";
        let mut document: DocumentMut = format!("{WHOLE}{table}").parse().expect("TOML");
        edit::set_dashboard(&mut document, "main", &["peak".to_owned()]).expect("set");
        let text = document.to_string();
        assert!(
            text.ends_with("[dashboards.main] # of the hall\nquestions = [\"peak\"] # by hand\n"),
            "{text}"
        );
    }
}

//! `sotto watch`: evaluates the plant's alarms on a fixed rhythm.

mod deliver;
mod exec;
mod mail;
mod mqtt;
mod webhook;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;
use sotto_owner::alarm::{Outbox, Round, Watch};
use sotto_owner::question::When;
use sotto_owner::{Every, moment};

use super::price::say_never_raised;
use super::{Place, show};
use crate::output::tell;
use crate::run::Run;

pub(super) use deliver::{To, give, trust};
pub(super) use mail::{AutoSubmitted, mailbox, send_message};

/// Arguments of `sotto watch`.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchAlarms {
    /// The time between two rounds: 30s, 5m, 1h. Rounds begin at multiples of it, by this machine's clock
    #[arg(long, value_name = "TIME", default_value = "5m")]
    every: Every,
    /// Run one round, attempt every delivery once, and end
    #[arg(long)]
    once: bool,
    /// Run the round as if it were this time, in the plant's time zone: 2014-02-01T06:00
    #[arg(long, value_name = "TIME", requires = "once")]
    now: Option<When>,
    /// Print a line of JSON for each event and each round
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Returns the time in milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Run for WatchAlarms {
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut plant = self.place.open()?;
        // Asked for now and not in the first round that needs it.
        plant.open_secrets()?;
        let every = i64::from(self.every.milliseconds().max(1000));
        let mut watch = Watch::open(&plant, every)?;
        say_never_raised(&plant)?;
        let outbox = Arc::new(Mutex::new(Outbox::open(&plant)?));
        let folder = plant.folder().to_owned();
        if self.once {
            let clock = plant.settings().clock()?;
            let now = self.now.as_ref().map(|now| moment(now, &clock)).transpose()?;
            let now = now.unwrap_or_else(now_ms);
            let round = watch.round_at(&plant, &outbox, now);
            let mut told = BTreeSet::new();
            print(&round, &self, &mut told);
            deliver::after_mutes(&plant, &outbox, now)?;
            deliver::all(&folder, &outbox, now, &|line| eprintln!("{line}"));
            let waiting = deliver::locked(&outbox).len();
            if waiting > 0 && !self.json {
                tell(format!(
                    "{} for a sink; the next `sotto watch` tries again",
                    if waiting == 1 { "1 event waits".to_owned() } else { format!("{waiting} events wait") }
                ));
            }
            return Ok(round.error.map_or(ExitCode::SUCCESS, |error| ExitCode::from(error.exit_code())));
        }
        deliver::start(&folder, &outbox, |line| eprintln!("{line}"));
        let mut told = BTreeSet::new();
        loop {
            let round = watch.round(&plant, &outbox);
            print(&round, &self, &mut told);
            if let Err(error) = deliver::after_mutes(&plant, &outbox, now_ms()) {
                eprintln!("sotto: {error}");
            }
            // The next multiple, whatever this round brought: a retry at once would tell something.
            let now = now_ms();
            let wait = every - now.rem_euclid(every);
            thread::sleep(Duration::from_millis(wait.unsigned_abs()));
            match plant.reopened() {
                Ok(changed) => plant = changed,
                Err(error) => eprintln!("sotto: {error}; the alarms are those of before"),
            }
        }
    }
}

/// Prints a line for each event, one for the round if it brought anything, and each remark once.
fn print(round: &Round, arguments: &WatchAlarms, told: &mut BTreeSet<String>) {
    for event in &round.events {
        if arguments.json {
            tell(serde_json::to_string(event).unwrap_or_default());
        } else {
            tell(event.text());
        }
    }
    let error = round.error.as_ref().map(ToString::to_string);
    if arguments.json {
        let line = json!({
            "version": 1, "round": now_ms(), "alarms": round.alarms, "devices": round.devices, "windows": round.windows,
            "undecided": round.undecided, "events": round.events.len(), "notes": round.notes, "error": error,
        });
        return tell(line);
    }
    for note in &round.notes {
        if told.insert(note.clone()) {
            tell(format!("note: {note}"));
        }
    }
    match &error {
        // Said once, until a round succeeds.
        Some(error) if !told.insert(error.clone()) => return,
        Some(error) => return eprintln!("sotto: {error}; the next round asks again"),
        None if told.len() > 1000 => told.clear(),
        None => {}
    }
    if arguments.once || round.windows > 0 {
        let undecided = match round.undecided {
            0 => String::new(),
            undecided => format!(", {undecided} of them undecided"),
        };
        tell(format!(
            "{}, {}: {}{undecided}",
            show::counted(round.alarms as u64, "alarm"),
            show::counted(round.devices as u64, "device"),
            show::counted(round.windows, "new window"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use sotto_owner::alarm::{Event, EventKind};

    pub(super) fn event() -> Event {
        Event {
            version: 1,
            id: "hot.boiler.raised.0.5c1f".to_owned(),
            alarm: "hot".to_owned(),
            device: "boiler".to_owned(),
            event: EventKind::Raised,
            when: "temperature > 80".to_owned(),
            from: "2014-01-31T00:00:00Z".to_owned(),
            to: "2014-01-31T01:00:00Z".to_owned(),
            value: Some(12.0),
            bound: Some(0.0),
            unit: String::new(),
            readings: 60,
            late: false,
            at: "2014-01-31T01:05:00Z".to_owned(),
            what: "12 of 60 readings > 80 °C".to_owned(),
            reason: None,
            muted: false,
            mends: None,
        }
    }
}

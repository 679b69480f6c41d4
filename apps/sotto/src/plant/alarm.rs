//! `sotto alarm`: standing alarms.

mod mail;

use std::cell::Cell;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_owner::alarm::{
    AlarmSettings, AlarmStatus, DeviceAlarm, Event, EventKind, Outbox, SinkKind, Watched,
};
use sotto_owner::question::{AlarmCondition, Duration};
use sotto_owner::{Every, OwnerError, Plant, edit};

use super::group::OnPlant;
use super::mute::{Ack, Mute, Unmute};
use super::price::{
    Declaring, bundles_json, changes, prices, say_bundles, say_changes, say_dry, say_never_raised,
};
use super::progress::waiting;
use super::status::minute;
use super::watch;
use crate::output::say;

/// The commands of `sotto alarm`.
#[derive(Subcommand, Debug)]
pub(crate) enum Alarm {
    /// Declare an alarm. `sotto watch` evaluates it.
    Add(Box<New>),
    /// Take an alarm out of sotto.toml, with its state and the events that wait.
    Remove {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
        name: String,
    },
    /// List the alarms.
    List {
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show an alarm's state about each device, and its last events.
    Show {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
        name: String,
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Name the server that takes messages of alarms.
    Mail(mail::Mail),
    /// Mute an alarm for some time: its events go to the log alone. One that lasts at the end is told then.
    Mute(Mute),
    /// End the mutes of an alarm.
    Unmute(Unmute),
    /// Acknowledge an alarm that lasts: it is not told again until it is over.
    Ack(Ack),
    /// Send a test event to every sink of an alarm.
    Test {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
        name: String,
    },
}

#[derive(clap::Args, Debug)]
pub(crate) struct New {
    /// Its name
    name: String,
    /// Its condition, such as 'temperature > 80 for 3 windows', 'mean(temperature) > 80 for 2h' or 'silent for 3h'
    condition: String,
    /// The limit at which it ends, on the quiet side of the condition's [default: the condition's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    clear: Option<f64>,
    /// Number of quiet windows after which it ends
    #[arg(long, value_name = "N", default_value_t = 1)]
    clear_after: u32,
    /// Look at windows that end after this time: 2014-01-31 or 2014-01-31T12:00 [default: now]
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Tell an alarm that lasts again this often, until somebody acknowledges it: 12h, 1d
    #[arg(long, value_name = "TIME")]
    repeat: Option<Duration>,
    /// Write events into the log alone at these times, in the plant's time zone: 'sat, sun; 22:00-06:00'
    #[arg(long, value_name = "TIMES")]
    mute: Option<String>,
    /// Devices run `sotto-agent run --fresh TIME`: then a silence may be shorter than a window
    #[arg(long, value_name = "TIME")]
    fresh: Option<Every>,
    /// Run this command for each event, with the event as JSON on its standard input
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// Post each event as JSON to this address
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Publish each event as JSON: mqtt://host/topic, or mqtts://user:password@host/topic
    #[arg(long, value_name = "ADDRESS")]
    mqtt: Option<String>,
    /// Send each event as a message to these addresses: 'ann@farm.example, bo@farm.example' (`sotto alarm mail` names the server)
    #[arg(long, value_name = "ADDRESSES")]
    mail: Option<String>,
    /// The authority of the webhook's and the broker's certificates, a PEM file in the plant's folder [default:
    /// Mozilla's list]
    #[arg(long, value_name = "FILE")]
    ca: Option<String>,
    #[command(flatten)]
    declaring: Declaring,
}

impl OnPlant for Alarm {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add(new) => add(plant, &new)?,
            Self::Remove { name } => {
                plant.remove_alarm(&name)?;
                Outbox::open(plant)?.drop_alarm(&name)?;
                say(format!("alarm {name}: removed"));
            }
            Self::List { json: true } => say(serde_json::to_string_pretty(&plant.settings().alarms)?),
            Self::List { json: false } => {
                for (name, settings) in &plant.settings().alarms {
                    say(format!("{name}: {}{}{}", plant.alarm(name)?, over(settings), sinks(settings)));
                }
            }
            Self::Show { name, json } => {
                let status = plant.alarm_status(&name)?;
                if json {
                    say(serde_json::to_string_pretty(&status)?);
                } else {
                    show(plant, &status)?;
                }
            }
            Self::Mail(arguments) => mail::set(plant, arguments)?,
            Self::Mute(mute) => mute.run(plant)?,
            Self::Unmute(unmute) => unmute.run(plant)?,
            Self::Ack(ack) => ack.run(plant)?,
            Self::Test { name } => return test(plant, &name),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn add(plant: &mut Plant, new: &New) -> anyhow::Result<()> {
    let New { name, condition, since, repeat, fresh, declaring, .. } = new;
    let Declaring { dry_run, json } = *declaring;
    let now = || {
        let clock = plant.settings().clock()?;
        let now = jiff::Timestamp::now().as_millisecond();
        Ok::<String, OwnerError>(clock.rfc3339(now).chars().take(16).collect())
    };
    let since = since.clone().map_or_else(now, Ok)?;
    let settings = AlarmSettings {
        when: condition.clone(),
        clear: new.clear,
        clear_after: new.clear_after,
        since: Some(since),
        repeat: repeat.map(|repeat| repeat.to_string()),
        mute: new.mute.clone(),
        exec: new.exec.clone(),
        webhook: new.webhook.clone(),
        mqtt: new.mqtt.clone(),
        mail: new.mail.clone(),
        ca: new.ca.clone(),
    };
    watch::trust(plant.folder(), settings.ca.as_ref()).map_err(anyhow::Error::msg)?;
    mail::check(&settings.mailboxes())?;
    let declared = plant.condition(&settings, *fresh)?;
    let settings = AlarmSettings { when: declared.to_string(), ..settings };
    let after = plant.edited(|document| edit::add_alarm(document, name, &settings))?;
    let changes = changes(&after, &prices(plant), prices(&after))?;
    let repeated = waiting("choosing parameters", || repeated(&after, name))?;
    let asked = format!("alarm {name}");
    let carried = || declared.streams().map_or(Ok(Vec::new()), |streams| after.carried_by(&asked, &streams));
    let mut bundles = waiting("choosing parameters", carried)?;
    let slow = match &declared.watched {
        Watched::Silence(silence) => after.too_slow_for(silence, *fresh)?,
        Watched::Limit(_) => Vec::new(),
    };
    for (device, time) in &slow {
        let reason = format!("windows arrive up to {time} after a reading, so that it looks silent");
        match bundles.iter_mut().find(|(name, _)| name == device) {
            Some((_, lacks)) => *lacks = lacks.take().or(Some(reason)),
            None => bundles.push((device.clone(), Some(reason))),
        }
    }
    if !dry_run {
        plant.edit(|document| edit::add_alarm(document, name, &settings))?;
    }
    say_never_raised(&after)?;
    if json {
        let slow: Vec<_> =
            slow.iter().map(|(device, time)| json!({"device": device, "time": time.to_string()})).collect();
        let report = json!({
            "alarm": name, "when": settings.when, "dry_run": dry_run, "prices": changes,
            "bundles": bundles_json(&bundles), "repeated_bytes_a_window": repeated, "too_slow": slow,
        });
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    let over = over(&settings);
    say(format!("alarm {name}: {declared}{over}, on each device by itself{}", sinks(&settings)));
    say_changes(&changes);
    if let Some(bytes) = repeated {
        say(format!(
            "  Its answers carry no tags: `sotto watch` repeats the cloud's work before it acts, and fetches {bytes} bytes a window for that."
        ));
    }
    say_bundles("the alarm", &bundles, &changes);
    if dry_run {
        say_dry();
    } else {
        say("`sotto watch` evaluates it.");
    }
    Ok(())
}

/// Returns the bytes of a window that an alarm's work is repeated on; None if its answers carry tags.
fn repeated(plant: &Plant, alarm: &str) -> Result<Option<usize>, OwnerError> {
    let asked = format!("alarm {alarm}");
    let planned = plant.planned_streams(None)?;
    let streams = planned.values().flatten().filter(|chosen| chosen.stream.questions.contains(&asked));
    Ok(streams.filter(|chosen| chosen.sums.is_empty()).map(|chosen| chosen.window_bytes).max())
}

/// Describes the end of an alarm, its repetitions and its mute times.
fn over(settings: &AlarmSettings) -> String {
    let end = match (settings.clear, settings.clear_after) {
        (None, 1) => String::new(),
        (Some(clear), 1) => format!("; over at {clear}"),
        (None, windows) => format!("; over after {windows} quiet windows"),
        (Some(clear), windows) => format!("; over at {clear} for {windows} windows"),
    };
    let repeat =
        settings.repeat.as_ref().map_or_else(String::new, |repeat| format!("; again every {repeat}"));
    let mute = settings.mute.as_ref().map_or_else(String::new, |mute| format!("; mute {mute}"));
    format!("{end}{repeat}{mute}")
}

/// Describes the sinks of an alarm, after a semicolon.
fn sinks(settings: &AlarmSettings) -> String {
    let sinks: Vec<&str> = settings.sinks().into_iter().map(|sink| sink.word()).collect();
    if sinks.is_empty() { String::new() } else { format!("; to {}", sinks.join(", ")) }
}

fn show(plant: &Plant, status: &AlarmStatus) -> anyhow::Result<()> {
    let settings = plant.alarm(&status.alarm)?.settings;
    let is_silence = matches!(AlarmCondition::parse(&status.when), Ok(AlarmCondition::Silence(_)));
    say(format!("{}: {}{}{}", status.alarm, status.when, over(&settings), sinks(&settings)));
    for device in &status.devices {
        say(format!("  {}", about(device, is_silence)));
    }
    if status.devices.is_empty() {
        say("  no device measures its channels");
    }
    if !status.events.is_empty() {
        say("last events:");
    }
    for event in &status.events {
        say(format!("  {}", event.text()));
    }
    Ok(())
}

fn about(of: &DeviceAlarm, is_silence: bool) -> String {
    let DeviceAlarm { device, raised_since, run, needed, last, value, failing, put_aside, .. } = of;
    let failing = failing.as_ref().map_or_else(String::new, |why| format!("; cannot be evaluated: {why}"));
    let hushed = hushed(of);
    let last = match (last, raised_since) {
        (Some(last), _) if is_silence => format!("last reading {}", minute(Some(last))),
        (Some(last), _) => format!("last window until {}", minute(Some(last))),
        (None, Some(_)) if is_silence => "no reading yet".to_owned(),
        (None, _) => {
            let nothing = if is_silence { "no reading yet" } else { "no window yet" };
            return format!("{device}: {nothing}{failing}{hushed}");
        }
    };
    let state = match (raised_since, *run) {
        (Some(since), 0) => format!("ALARM since {}", minute(Some(since))),
        (Some(since), run) => format!("ALARM since {}, {run} of {needed} quiet windows", minute(Some(since))),
        (None, 0) => "quiet".to_owned(),
        (None, run) => match &of.run_since {
            Some(since) => format!("quiet, it holds since {}", minute(Some(since))),
            None => format!("quiet, {run} of {needed} windows"),
        },
    };
    let value = value.as_ref().map_or_else(String::new, |value| format!(" ({value})"));
    let aside = match put_aside {
        0 => String::new(),
        count => format!("; {count} late windows put aside"),
    };
    format!("{device}: {state}; {last}{value}{failing}{aside}{hushed}")
}

/// Describes a mute and an acknowledgement.
fn hushed(of: &DeviceAlarm) -> String {
    let by_command = of.muted_until.as_ref().map(|until| format!("; muted until {}", minute(Some(until))));
    let muted = by_command.or_else(|| of.muted_now.then(|| "; muted now".to_owned()));
    format!("{}{}", muted.unwrap_or_default(), if of.acknowledged { "; acknowledged" } else { "" })
}

fn test(plant: &Plant, name: &str) -> anyhow::Result<ExitCode> {
    let declared = plant.alarm(name)?;
    let clock = plant.settings().clock()?;
    let now = jiff::Timestamp::now().as_millisecond();
    let at = clock.rfc3339(now);
    let event = Event {
        version: 1,
        id: format!("{name}.test.{now}"),
        alarm: name.to_owned(),
        device: String::new(),
        event: EventKind::Test,
        when: declared.to_string(),
        from: at.clone(),
        to: at.clone(),
        value: None,
        bound: None,
        unit: declared.unit().to_owned(),
        readings: 0,
        late: false,
        at,
        what: "nothing has happened".to_owned(),
        reason: None,
        muted: false,
        mends: None,
    };
    let sinks = declared.settings.sinks();
    if sinks.is_empty() {
        say(format!("alarm {name} has no sink: its events go to alarms/alarms.jsonl alone"));
    }
    let (mut failed, refused) = (false, Cell::new(0));
    let note = |address: &str, refusal: Option<&str>| {
        if let Some(reason) = refusal {
            refused.set(refused.get() + 1);
            say(format!("mail: {address} refuses it: {reason}"));
        }
        Ok(())
    };
    let server = plant.settings().mail.as_ref();
    for sink in sinks {
        let to =
            watch::To { settings: &declared.settings, server, sink, again: false, reached: &[], note: &note };
        match watch::give(plant.folder(), &to, &event) {
            Ok(()) if sink == SinkKind::Mail && refused.get() > 0 => {
                if refused.get() < declared.settings.mailboxes().len() {
                    say("mail: taken for the other addresses");
                }
            }
            Ok(()) => say(format!("{}: taken", sink.word())),
            Err(reason) => {
                failed = true;
                say(format!("{}: failed: {reason}", sink.word()));
            }
        }
    }
    Ok(if failed || refused.get() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

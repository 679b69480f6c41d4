//! `sotto retain`: the cloud keeps sums of old windows in place of their bodies.

use std::process::ExitCode;

use sotto_owner::{Age, Retained, Retention, RollUpLevel};

use super::forget::{NOT_CONFIRMED, confirmed};
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto retain`.
#[derive(clap::Args, Debug)]
pub(crate) struct Retain {
    /// The channel: all streams with it, of all devices
    #[arg(value_name = "CHANNEL", add = clap_complete::ArgValueCompleter::new(crate::complete::channel))]
    channel: String,
    /// Windows stay as they are up to this age: 90d, 12w or 2y
    #[arg(value_name = "AGE")]
    age: Age,
    /// The span of time whose older windows become one sum, and the age until which: day:2y, then month:forever. hour: of devices
    /// with a question by hour
    #[arg(long = "roll-up", value_name = "UNIT:AGE", required = true)]
    roll_up: Vec<RollUpLevel>,
    /// Show what would be added up, and order nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Retain {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let retention = Retention::new(&self.channel, self.age, self.roll_up)?;
        let planned = plant.retain(&retention, true)?;
        if !self.json {
            say_plan(&planned);
        }
        if planned.is_empty() || self.dry_run {
            return if self.json { say_json(&planned, !self.dry_run) } else { Ok(ExitCode::SUCCESS) };
        }
        if !self.yes && !confirmed("The bodies of these windows are deleted from the cloud")? {
            return Ok(ExitCode::from(NOT_CONFIRMED));
        }
        let done = plant.retain(&retention, false)?;
        if self.json {
            return say_json(&done, true);
        }
        let freed: u64 = done.iter().filter_map(|of| of.freed_bytes).sum();
        let windows: u64 = done.iter().map(|of| of.windows).sum();
        say(format!("{} added up, {freed} bytes freed in the cloud", show::counted(windows, "window")));
        for of in done.iter().filter(|of| of.faulty > 0) {
            say(format!(
                "  {}.{}: {} stay as they are, as their own tags do not fit: no sum with them opens",
                of.device,
                of.stream,
                show::counted(of.faulty, "window")
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn say_json(all: &[Retained], ordered: bool) -> anyhow::Result<ExitCode> {
    let document = serde_json::json!({ "version": 1, "ordered": ordered, "streams": all });
    say(serde_json::to_string_pretty(&document)?);
    Ok(ExitCode::SUCCESS)
}

fn shown(of: &Retained) -> String {
    let day = |at: &str| at.get(..10).unwrap_or(at).to_owned();
    format!(
        "{}.{}: {} from {} to {} become {}, of {}",
        of.device,
        of.stream,
        show::counted(of.windows, "window"),
        day(&of.from),
        day(&of.to),
        show::counted(of.sums, "sum"),
        of.channels.join(", ")
    )
}

fn say_plan(planned: &[Retained]) {
    if planned.is_empty() {
        say("No window is old enough, or alone in its time: nothing is added up.".to_owned());
        return;
    }
    planned.iter().for_each(|of| say(shown(of)));
    say(
        "  stays: sums, means and deviations of whole groups of that time, with their tags; extremes and increases, window by window; all signed headers",
    );
    say(
        "  goes: the readings of single windows of that time, sums of shorter groups; nobody can repeat its answers any more",
    );
}

//! `sotto alarm mute`, `unmute` and `ack`.

use sotto_owner::alarm::{Event, Order};
use sotto_owner::question::{Duration, When};
use sotto_owner::{OwnerError, Plant, moment};

use crate::output::say;

#[derive(clap::Args, Debug)]
pub(crate) struct Mute {
    /// The alarm's name
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
    name: String,
    /// For this long: 30m, 2h, 1d
    #[arg(long = "for", value_name = "TIME", conflicts_with = "until")]
    time: Option<Duration>,
    /// Until this time, in the plant's time zone: 2014-02-01 or 2014-02-01T06:00
    #[arg(long, value_name = "TIME")]
    until: Option<When>,
    #[command(flatten)]
    about: About,
}

#[derive(clap::Args, Debug)]
pub(crate) struct Unmute {
    /// The alarm's name
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
    name: String,
    #[command(flatten)]
    about: About,
}

#[derive(clap::Args, Debug)]
pub(crate) struct Ack {
    /// The alarm's name
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::alarm))]
    name: String,
    #[command(flatten)]
    about: About,
}

#[derive(clap::Args, Debug)]
struct About {
    /// About this device alone [default: all devices of the alarm]
    #[arg(long, value_name = "DEVICE", add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
    device: Option<String>,
    /// The reason, for the log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl About {
    fn order(self, command: &str) -> Order {
        Order { device: self.device, reason: self.reason, by: command.to_owned() }
    }
}

impl Mute {
    pub(super) fn run(self, plant: &Plant) -> anyhow::Result<()> {
        let clock = plant.settings().clock()?;
        let now = jiff::Timestamp::now().as_millisecond();
        let (until, command) = match (&self.time, &self.until) {
            (_, Some(until)) => {
                (moment(until, &clock)?, format!("sotto alarm mute --until {}", until.as_str()))
            }
            (None, None) => {
                let reason = "say how long: --for 2h, or --until 2014-02-01T06:00";
                return Err(OwnerError::Argument(reason.to_owned()).into());
            }
            (Some(time), None) => {
                let length = i64::try_from(time.seconds().saturating_mul(1000)).unwrap_or(i64::MAX);
                (now.saturating_add(length), format!("sotto alarm mute --for {time}"))
            }
        };
        let line = plant.mute_alarm(&self.name, until, &self.about.order(&command))?;
        say(line.text());
        say("Its events go to the log alone; if it lasts then, it is told at the end.");
        Ok(())
    }
}

impl Unmute {
    pub(super) fn run(self, plant: &Plant) -> anyhow::Result<()> {
        let line = plant.unmute_alarm(&self.name, &self.about.order("sotto alarm unmute"))?;
        say(line.text());
        Ok(())
    }
}

impl Ack {
    pub(super) fn run(self, plant: &Plant) -> anyhow::Result<()> {
        let lines = plant.acknowledge_alarm(&self.name, &self.about.order("sotto alarm ack"))?;
        lines.iter().map(Event::text).for_each(say);
        Ok(())
    }
}

//! `sotto demo`: from a new plant to answers, with a cloud and two devices as real processes on this machine.

mod arguments;
mod clear;
mod cloud;
mod device;
mod explain;
mod input;
mod processes;
mod question;
mod report;
mod screen;
mod series;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use sotto_owner::settings::QuestionSettings;
use sotto_owner::{NewPlant, Plant, edit, stream_report};

use device::{NAMES, Report};
use input::Input;
use processes::Processes;
use question::Declared;
use report::{Answered, Document};

use crate::run::Run;
pub(crate) use arguments::Demo;

impl Run for Demo {
    /// Runs the demo, one step a line.
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut processes = Processes::new()?;
        let input = Input::decide(&self, &mut processes)?;
        let questions = question::declare(&input);
        let plant = processes.uninterrupted(|| make_plant(&processes, &input, &questions))?;
        cloud::start(&plant, &mut processes)?;
        for (name, options) in NAMES.into_iter().zip(&input.options) {
            device::enrol(name, &plant, &processes)?;
            device::start(name, options, &mut processes)?;
        }
        wait_for_devices(&mut processes, &input)?;
        let [first, second] = NAMES;
        let reports = [Report::read(first, &input, &processes)?, Report::read(second, &input, &processes)?];
        let logs = [device::clear_log(first, &processes)?, device::clear_log(second, &processes)?];
        let (mut answers, mut answered) = (Vec::new(), Vec::new());
        for declared in &questions {
            let answer = plant.ask(&plant.question(declared.name)?, &mut |_, _| {})?;
            answered.push(Answered::new(declared, &answer, &input, &logs)?);
            answers.push(answer);
        }
        let seen = cloud::first_bytes(&plant)?;
        // Both devices send the same streams.
        let streams = plant.planned_streams(None)?.remove(first).unwrap_or_default();
        let streams = streams.iter().map(stream_report).collect();
        let document = Document::new(&input, &reports, processes.list(), answered, &answers, streams);
        processes.stop();
        if self.json {
            crate::output::say(serde_json::to_string_pretty(&document)?);
        } else {
            screen::print(&document, &input, plant.settings(), &seen);
            if self.explain {
                explain::print(&document);
            }
        }
        Ok(if document.all_within_bounds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Does the work of `sotto init`, `sotto channel add` and `sotto question add`.
fn make_plant(processes: &Processes, input: &Input, questions: &[Declared]) -> anyhow::Result<Plant> {
    let new = NewPlant { cloud: None, listen: free_port()?, time_zone: None };
    let mut plant = Plant::init(&processes.folder().join("plant"), &new)?;
    plant.edit(|document| {
        for measured in &input.channels {
            edit::add_channel(document, &measured.name, &measured.channel)?;
        }
        for declared in questions {
            let settings = QuestionSettings { scheme: declared.scheme, ..declared.text.as_str().into() };
            edit::add_question(document, declared.name, &settings)?;
        }
        let channels: Vec<String> = input.channels.iter().map(|measured| measured.name.clone()).collect();
        NAMES.into_iter().try_for_each(|name| edit::add_device(document, name, &channels))
    })?;
    Ok(plant)
}

/// Returns an address on loopback that nobody listens on.
fn free_port() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

fn wait_for_devices(processes: &mut Processes, input: &Input) -> anyhow::Result<()> {
    let bar = ProgressBar::new((input.seconds * 10.0) as u64);
    bar.set_style(ProgressStyle::with_template("{msg} {wide_bar} {eta}")?);
    bar.set_message(format!("both devices read {}", input.description));
    let start = Instant::now();
    for name in NAMES {
        while !processes.ended(name)? {
            bar.set_position((start.elapsed().as_secs_f64() * 10.0) as u64);
            processes.fail_if_ended("cloud")?;
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

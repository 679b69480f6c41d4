//! Asks every question of a device's windows.

use anyhow::Context;
use sotto_pack::WindowDescription;

use super::answer::{Answer, answers};
use super::device::Device;
use super::lane::{Lane, Request};
use super::processes::Processes;
use super::report::{Answered, Step};
use crate::cloud::{Cloud, Envelope};
use crate::phases::Phases;

/// Every question of every lane about this device.
pub(super) fn everything(
    device: &Device,
    lanes: &[Box<dyn Lane>],
    cloud: &Cloud,
    processes: &Processes,
    phases: &mut Phases,
) -> anyhow::Result<Vec<Answered>> {
    let envelopes = cloud.envelopes(&device.name)?;
    let mut answered = Vec::new();
    for lane in lanes {
        let missing = || format!("the cloud has no window {} of {}", lane.stream(), device.name);
        let envelope = envelopes.iter().find(|e| e.stream == lane.stream()).with_context(missing)?;
        for question in lane.questions() {
            let about = About { device, lane: lane.as_ref(), cloud, envelope };
            answered.push(about.ask(*question, processes, phases)?);
        }
    }
    Ok(answered)
}

struct About<'a> {
    device: &'a Device,
    lane: &'a dyn Lane,
    cloud: &'a Cloud,
    envelope: &'a Envelope,
}

impl About<'_> {
    /// Asks once for each number of readings that channels have: a mean divides by it.
    fn ask(
        &self,
        question: super::question::Question,
        processes: &Processes,
        phases: &mut Phases,
    ) -> anyhow::Result<Answered> {
        let window = WindowDescription::parse(self.envelope.layout.to_string().as_bytes())?;
        let raw = self.device.clear_readings(processes, self.lane.stream())?;
        let mut counts = window.present.clone();
        counts.sort_unstable();
        counts.dedup();
        counts.retain(|count| *count > 0);
        if question.is_of_each_reading() {
            counts.truncate(1);
        }
        let mut all: Vec<Answer> = Vec::new();
        let mut steps: Vec<Step> = vec![
            Step::new("pack", 1, "device"),
            Step::new("encode", 1, "device"),
            Step::new("encrypt", 1, "device"),
        ];
        for count in &counts {
            let request = Request {
                question,
                device: &self.device.name,
                origin: self.device.kind.origin(),
                cloud: self.cloud,
                envelope: &self.envelope.id,
                window: &window,
                count: *count,
            };
            let asking = self.lane.ask(&request, phases)?;
            all.extend(answers(question, &window, *count, &asking.slots, asking.slot_error, &raw.values)?);
            for (op, times) in asking.steps {
                Step::add(&mut steps, op, times, "cloud");
            }
        }
        let answered = counts.len() as u64;
        Step::add(&mut steps, "decrypt", answered, "owner");
        Step::add(&mut steps, "decode", answered, "owner");
        if let Some(op) = question.after_decryption() {
            Step::add(&mut steps, op, all.len() as u64, "owner");
        }
        Answered::worst(question.name(), self.lane.scheme(), &self.device.name, all, steps)
    }
}

/// The first bytes of a stored ciphertext's residues: all that the cloud sees.
pub(super) fn first_bytes(device: &Device, cloud: &Cloud) -> anyhow::Result<String> {
    let envelopes = cloud.envelopes(&device.name)?;
    let first = envelopes.first().context("the cloud has no window")?;
    let body = cloud.body(&first.id)?;
    // Past the frame's header, the ciphertext's and the seed.
    let start = body.len().saturating_sub(32 + 48);
    let shown = &body[start..body.len().saturating_sub(32)];
    let who = format!("{}/{}, {} readings, {} bytes", first.device, first.stream, first.readings, body.len());
    Ok(format!("{who}: {}", hex::encode(shown)))
}

//! Asks every question of the devices' windows.

use anyhow::Context;
use sotto_cloud_client::{Cloud, EnvelopeQuery, StoredEnvelope};
use sotto_pack::WindowDescription;

use super::answer::{self, Answer, RawRows};
use super::device::Device;
use super::lane::{Lane, Request};
use super::processes::Processes;
use super::report::{Answered, Step};
use crate::phases::Phases;

/// Every question of every lane about so many devices. An answer is under the key of the first of them.
pub(super) fn everything(
    devices: &[&Device],
    lanes: &[Box<dyn Lane>],
    cloud: &Cloud,
    processes: &Processes,
    phases: &mut Phases,
) -> anyhow::Result<Vec<Answered>> {
    let of_device = |device: &&Device| -> Result<Vec<_>, _> {
        cloud.envelopes(&EnvelopeQuery::of_device(&device.name)).collect()
    };
    let stored = devices.iter().map(of_device).collect::<Result<Vec<_>, _>>()?;
    let mut answered = Vec::new();
    for lane in lanes {
        let window = |(device, envelopes): (&&Device, &Vec<StoredEnvelope>)| {
            let missing = || format!("the cloud has no window {} of {}", lane.stream(), device.name);
            envelopes.iter().find(|e| e.stream == lane.stream()).cloned().with_context(missing)
        };
        let envelopes = devices.iter().zip(&stored).map(window).collect::<anyhow::Result<Vec<_>>>()?;
        for question in lane.questions().iter().filter(|question| question.devices() == devices.len()) {
            let about = About { devices, lane: lane.as_ref(), cloud, envelopes: &envelopes };
            answered.push(about.ask(*question, processes, phases)?);
        }
    }
    Ok(answered)
}

/// Devices, and the window of each that is asked about.
struct About<'a> {
    devices: &'a [&'a Device],
    lane: &'a dyn Lane,
    cloud: &'a Cloud,
    envelopes: &'a [StoredEnvelope],
}

impl About<'_> {
    /// Asks once for each number of readings that channels have: a mean divides by it.
    fn ask(
        &self,
        question: super::question::Question,
        processes: &Processes,
        phases: &mut Phases,
    ) -> anyhow::Result<Answered> {
        let windows = self.windows()?;
        let raw = self
            .devices
            .iter()
            .map(|device| device.clear_readings(processes, self.lane.stream()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let raw: Vec<&RawRows> = raw.iter().map(|stream| stream.values.as_slice()).collect();
        let mut counts = answer::counts(&windows);
        counts.sort_unstable();
        counts.dedup();
        counts.retain(|count| *count > 0);
        if question.is_of_each_reading() {
            counts.truncate(1);
        }
        let mut all: Vec<Answer> = Vec::new();
        let encrypted = self.devices.len() as u64;
        let mut steps: Vec<Step> =
            ["pack", "encode", "encrypt"].map(|op| Step::new(op, encrypted, "device")).to_vec();
        let envelopes: Vec<&str> = self.envelopes.iter().map(|envelope| envelope.id.as_str()).collect();
        for count in &counts {
            let request = Request {
                question,
                device: &self.devices[0].name,
                origin: Device::noisiest_origin(self.devices),
                cloud: self.cloud,
                envelopes: &envelopes,
                window: &windows[0],
                count: *count,
            };
            let asking = self.lane.ask(&request, phases)?;
            all.extend(answer::answers(question, &windows, *count, &asking.slots, asking.slot_error, &raw)?);
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
        let mut names: Vec<String> = self.devices.iter().map(|device| device.name.clone()).collect();
        names.sort_unstable();
        Answered::worst(question.name(), self.lane.scheme(), names, all, steps)
    }

    /// What stands in each window: the same in all of them, or slots could not be added.
    fn windows(&self) -> anyhow::Result<Vec<WindowDescription>> {
        let parse = |envelope: &StoredEnvelope| WindowDescription::parse(envelope.layout.get().as_bytes());
        let windows = self.envelopes.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let same = windows.windows(2).all(|pair| pair[0].layout == pair[1].layout);
        anyhow::ensure!(same, "the devices have other channels or ranges: slots cannot be added");
        Ok(windows)
    }
}

/// The first bytes of a stored ciphertext's residues: all that the cloud sees.
pub(super) fn first_bytes(device: &Device, cloud: &Cloud) -> anyhow::Result<String> {
    let first = cloud.envelopes(&EnvelopeQuery::of_device(&device.name)).next();
    let first = first.context("the cloud has no window")??;
    let body = cloud.body(&first.id)?;
    // Past the frame's header, the ciphertext's and the seed.
    let start = body.len().saturating_sub(32 + 48);
    let shown = &body[start..body.len().saturating_sub(32)];
    let who = format!("{}/{}, {} readings, {} bytes", first.device, first.stream, first.readings, body.len());
    Ok(format!("{who}: {}", hex::encode(shown)))
}

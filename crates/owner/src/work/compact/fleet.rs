//! Sums of several devices' windows under one mask. One product per sum decrypts it.

use std::time::Instant;

use sotto_cloud_client::SumOf;
use sotto_compact::{Mask, Sum, Weights};
use sotto_decrypt::open_fleet;
use sotto_keys::{SecretKey, SecretSum};
use sotto_pack::Layout;
use sotto_rlwe::{Bfv, KeyId, ParameterSpec, Params};
use sotto_wire::{CompactSums, FleetForm, FleetId, FleetSum, FleetSums, MaskName};

use super::{DeviceStream, Opener, Task, request};
use crate::devices;
use crate::error::OwnerError;
use crate::quantities::{Input, Quantity};
use crate::streams::CompactStream;
use crate::work::job::{Computer, Results};

/// A device whose windows share masks, with its key.
pub(crate) struct Member {
    pub(crate) device: String,
    key: SecretKey<Bfv>,
}

/// Windows of several devices under one mask, each with its device's position among the members. All send the same
/// number of ticks.
pub(crate) struct UnderOneMask {
    pub(crate) ticks: u32,
    pub(crate) windows: Vec<(Input, usize)>,
}

/// One mask, the windows under it, and their devices.
struct MaskRequest<'a> {
    fleet: FleetId,
    start: i64,
    mask: Mask,
    name: MaskName,
    members: &'a [Member],
    windows: &'a [(Input, usize)],
}

impl Computer<'_> {
    /// Returns a device as a member of a fleet.
    pub(crate) fn member(&self, device: &str, spec: &ParameterSpec) -> Result<Member, OwnerError> {
        let params = Params::<Bfv>::new(spec.clone());
        let params = params.map_err(|error| OwnerError::NoParameters(error.to_string()))?;
        let key = SecretKey::<Bfv>::derive(&devices::secret(self.plant, device)?, &params);
        Ok(Member { device: device.to_owned(), key })
    }

    /// Returns the results of all parts; None if the windows do not hold the quantities.
    pub(crate) fn fleet_results(
        &mut self,
        stream: &CompactStream,
        spec: &ParameterSpec,
        layout: &Layout,
        members: &[Member],
        parts: &[UnderOneMask],
        quantities: &[Quantity],
    ) -> Result<Option<Vec<Results>>, OwnerError> {
        let (Some(fleet), Some(first)) = (stream.fleet, members.first()) else { return Ok(None) };
        let mut planned = Vec::with_capacity(parts.len());
        for part in parts {
            let start = part.windows.first().map_or(-1, |(input, _)| input.window.start);
            let Some(name) = MaskName::shared(start) else { return Ok(None) };
            let opener =
                Opener::new(self, DeviceStream { device: &first.device, stream, spec }, layout, part.ticks)?;
            let inputs: Vec<&Input> = part.windows.iter().map(|(input, _)| input).collect();
            let mut tasks = Vec::new();
            if opener.tasks(0, 0..inputs.len(), &inputs, quantities, &mut tasks).is_none() {
                return Ok(None);
            }
            // With a weight per window, a sum would need as many products as windows.
            if tasks.iter().any(|task| task.weights.is_some()) {
                return Ok(None);
            }
            tasks.sort_by_key(|task| task.windows.start);
            let mask = opener.masks.mask(&name.salt, name.sequence);
            let asked = MaskRequest { fleet, start, mask, name, members, windows: &part.windows };
            planned.push((opener, tasks, asked));
        }
        let mut all = Vec::with_capacity(parts.len());
        for (opener, tasks, asked) in planned {
            let mut results = stream.empty(layout, quantities);
            let mut left = &tasks[..];
            while !left.is_empty() {
                let (now, later) = left.split_at(request(left));
                self.fleet_request(&opener, &asked, now, &mut results)?;
                left = later;
            }
            all.push(results);
        }
        Ok(Some(all))
    }

    /// Requests some sums under one mask, decrypts them, and adds them to the results.
    fn fleet_request(
        &mut self,
        opener: &Opener,
        asked: &MaskRequest<'_>,
        tasks: &[Task],
        results: &mut Results,
    ) -> Result<(), OwnerError> {
        let first = tasks.iter().map(|task| task.windows.start).min().unwrap_or_default();
        let end = tasks.iter().map(|task| task.windows.end).max().unwrap_or_default();
        let windows = &asked.windows[first..end];
        let inputs: Vec<&Input> = windows.iter().map(|(input, _)| input).collect();
        let sums: Vec<SumOf> = tasks.iter().map(|task| task.sum_of(first)).collect();
        // If all windows have one key, the sums are under that key.
        let mut keys = windows.iter().map(|(_, at)| asked.members[*at].key.id());
        let first_key = keys.next();
        let key = first_key.filter(|first| keys.all(|key| key == *first));
        let frame = self.sums(&inputs, &sums, opener.profile.params().id(), key)?;
        let begin = Instant::now();
        let keys: Vec<KeyId> = windows.iter().map(|(_, at)| asked.members[*at].key.id()).collect();
        let bodies: Vec<FleetSum> = asked.answered(opener, &frame, &keys, &sums)?;
        for (task, sum) in tasks.iter().zip(&bodies) {
            let values = asked.open(opener, task, sum)?;
            opener.put(task, &values, results)?;
        }
        self.spent.record("decrypt", begin.elapsed());
        Ok(())
    }
}

impl MaskRequest<'_> {
    /// Reads the sums of an answer. Checks that they are of exactly these keys and this mask.
    fn answered(
        &self,
        opener: &Opener,
        frame: &[u8],
        keys: &[KeyId],
        sums: &[SumOf],
    ) -> Result<Vec<FleetSum>, OwnerError> {
        let wrong = |error: sotto_wire::WireError| OwnerError::WrongAnswer(error.to_string());
        let others =
            || OwnerError::WrongAnswer("the sums are of other windows than were asked for".to_owned());
        let form = FleetForm::from(opener.form());
        let bodies: usize = sums.iter().map(|sum| form.bytes(sum.places.1)).sum();
        let as_asked = |sum: &FleetSum, wanted: &SumOf| {
            (sum.windows, (sum.first, sum.places)) == (wanted.envelopes, wanted.places)
        };
        let read = if let [key] = keys {
            // A single window gives an ordinary sum.
            let limit = CompactSums::frame_bytes(1, sums.len(), bodies) as u64;
            let answer = CompactSums::read(frame, limit).map_err(wrong)?;
            if answer.form != form.under(*key) || answer.masks != [self.name] {
                return Err(others());
            }
            let of = |sum: sotto_wire::CompactSum| FleetSum {
                windows: (0, 1),
                first: sum.first,
                places: sum.places,
                body: sum.body,
            };
            answer.sums.into_iter().map(of).collect()
        } else {
            let limit = FleetSums::frame_bytes(keys.len(), sums.len(), bodies) as u64;
            let answer = FleetSums::read(frame, limit).map_err(wrong)?;
            let same = answer.form == form && answer.fleet == self.fleet && answer.start == self.start;
            if !same || answer.keys != keys {
                return Err(others());
            }
            answer.sums
        };
        let all =
            read.len() == sums.len() && read.iter().zip(sums).all(|(sum, wanted)| as_asked(sum, wanted));
        if all { Ok(read) } else { Err(others()) }
    }

    /// Decrypts a sum, with the sum of the secrets of exactly the devices that took part.
    fn open(&self, opener: &Opener, task: &Task, sum: &FleetSum) -> Result<Vec<i64>, OwnerError> {
        let wrong = |reason: String| OwnerError::WrongAnswer(reason);
        let mut secrets = SecretSum::new(opener.profile.params());
        for (_, member) in &self.windows[task.windows.clone()] {
            if !secrets.add(&self.members[*member].key) {
                return Err(wrong("a device has a key of other parameters".to_owned()));
            }
        }
        let weights = Weights::of_ones(secrets.keys());
        let summed = Sum::from_bytes(opener.profile.form(), task.places.clone(), &sum.body, weights);
        let summed = summed.map_err(|error| wrong(error.to_string()))?;
        let opened = open_fleet(&secrets, &opener.profile, &summed, &self.mask);
        let opened = opened.map_err(|error| wrong(error.to_string()))?;
        opened.into_exact(task.magnitude).map_err(|error| wrong(error.to_string()))
    }
}

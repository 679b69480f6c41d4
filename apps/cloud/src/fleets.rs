//! Sums over the windows of a fleet under one mask, from bodies that are stored in one table.

use sotto_api::fleets::FleetSumsOf;
use sotto_api::reason;
use sotto_compact::{Form, Sum};
use sotto_evaluate::LARGEST_SUMS;
use sotto_rlwe::KeyId;
use sotto_wire::{
    Digest, FleetForm, FleetId, FleetSum, FleetSums, MOST_FLEET_WINDOWS, MOST_SUMS, Transcript,
    TranscriptInputs, Work, fleet_sums_request_digest,
};

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::store::{Selected, StoreError};
use crate::transcript;

/// Maximum bytes of bodies read by a request: 64 MiB.
const MOST_READ: usize = 64 << 20;

/// Adds windows of a fleet in the order of their keys, `most` windows a sum. Returns the frame of the sums and its
/// transcript.
///
/// An answer has whole sums of up to 2^16 windows, 4,096 sums or 16 MiB. An answer with fewer windows than that is the
/// last.
pub(crate) fn sums(
    cloud: &Cloud,
    fleet: &str,
    request: &FleetSumsOf,
) -> Result<(Vec<u8>, Transcript), Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_FLEET, "no registered stream belongs to this fleet");
    let id: FleetId = fleet.parse().map_err(|_| unknown())?;
    let fleet = cloud.store.fleet(id)?.ok_or_else(unknown)?;
    let wrong = |detail: &str| Problem::unprocessable(reason::WRONG_SUM, detail);
    if request.start < 0 || !(1..=fleet.header.layout().ticks()).contains(&request.ticks) {
        return Err(wrong("the fleet has no windows with this start or this number of ticks"));
    }
    let after = match &request.after {
        Some(key) => {
            Some(KeyId(from_hex(key).ok_or_else(|| wrong("a key has 32 lower-case hexadecimal digits"))?))
        }
        None => None,
    };
    let form = fleet.header.form(request.ticks)?;
    let places = cloud.params(form.parameters)?.compact(&form)?;
    // Bound the scan: the store serves no one else meanwhile.
    let windows = (MOST_READ / places.body_bytes()).clamp(1, MOST_FLEET_WINDOWS);
    let most = usize::try_from(request.most).unwrap_or(usize::MAX).min(windows);
    if most == 0 {
        return Err(wrong("a sum has at least one window"));
    }
    let sums = (windows / most).min(MOST_SUMS).min(LARGEST_SUMS / places.body_bytes());
    let selected = Selected { start: request.start, ticks: request.ticks, after, limit: sums.max(1) * most };
    let Added { keys, leaves, sums: added } =
        add(&places, most, |take| cloud.store.fleet_bodies(&fleet, &selected, take))?;
    let sum = |(at, sum): (usize, &Sum)| {
        let (first, count) = (at * most, (keys.len() - at * most).min(most));
        FleetSum {
            windows: (first as u32, count as u32),
            first: 0,
            places: form.places,
            body: sum.to_bytes(),
        }
    };
    let sums = added.iter().enumerate().map(sum).collect();
    let frame =
        FleetSums { form: FleetForm::from(form), fleet: id, start: request.start, keys, sums }.write()?;
    let digest = fleet_sums_request_digest(id, request.start, request.ticks, request.most, selected.after);
    let summed = transcript::Summed {
        work: Work::FleetSums,
        request: digest,
        parameters: form.parameters,
        key: KeyId([0; 16]),
        inputs: TranscriptInputs::of(leaves),
    };
    let transcript = transcript::of_sums(cloud, &summed, &frame)?;
    Ok((frame, transcript))
}

/// Added windows: their keys and leaves in order, and one sum for each `most` of them.
pub(crate) struct Added {
    pub(crate) keys: Vec<KeyId>,
    pub(crate) leaves: Vec<Digest>,
    pub(crate) sums: Vec<Sum>,
}

/// Callback that receives a window's key, leaf and body.
pub(crate) type Take<'t> = &'t mut dyn FnMut(KeyId, Digest, &[u8]) -> Result<(), StoreError>;

/// Adds the windows that a scan yields, `most` windows a sum.
pub(crate) fn add(
    places: &Form,
    most: usize,
    scan: impl FnOnce(Take<'_>) -> Result<(), StoreError>,
) -> Result<Added, StoreError> {
    let (mut keys, mut leaves, mut sums) = (Vec::new(), Vec::new(), Vec::<Sum>::new());
    scan(&mut |key, leaf, body| {
        if keys.len() % most == 0 {
            sums.push(Sum::new(places));
        }
        keys.push(key);
        leaves.push(leaf);
        let sum = sums.last_mut().map_or(Ok(()), |sum| sum.add(body, 1));
        sum.map_err(|error| StoreError::Damaged(error.to_string()))
    })?;
    Ok(Added { keys, leaves, sums })
}

//! Sums of compact ciphertexts: integers modulo 2^w, which take no key. Of windows under one key, or of several keys under one mask of
//! their fleet.

use serde::Deserialize;
use sotto_compact::{CompactError, Form, Sum};
use sotto_rlwe::KeyId;
use sotto_wire::{
    CompactCiphertext, CompactForm, CompactSum, CompactSums, FleetForm, FleetId, FleetSum, FleetSums, Kind,
    MOST_SUMMED, MOST_SUMS, MaskName, WireError, frame_kind,
};

use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::StoreError;

/// Most additions of all sums of a request together.
const MOST_ADDITIONS: usize = 1 << 16;
/// Most bytes of an answer.
pub(crate) const LARGEST_ANSWER: usize = 16 << 20;

/// A request for sums.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Names of envelopes, whose ciphertexts have one form, and one key or one mask.
    envelopes: Vec<String>,
    sums: Vec<Wanted>,
}

/// One sum.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The first of the envelopes, and how many.
    envelopes: (u32, u32),
    /// The first of the places, and how many.
    places: (u16, u16),
    /// For each envelope, a weight for each place; 1 everywhere where there are none.
    weights: Option<Vec<i32>>,
}

/// The windows that are added, as far as they were read.
struct Together {
    form: FleetForm,
    /// The fleet, if the first window is under a mask of one.
    fleet: Option<FleetId>,
    /// True while all windows are under the first one's key, and while all are under its mask.
    one_key: bool,
    one_mask: bool,
    windows: Vec<(KeyId, MaskName)>,
}

/// A sum on its way.
struct Adding<'r> {
    wanted: &'r Wanted,
    sum: Sum,
}

/// Adds the envelopes of a request, which are read one after the other: only sums are held.
pub(crate) fn sums(cloud: &Cloud, request: &Request) -> Result<Vec<u8>, Problem> {
    request.check()?;
    let (mut together, mut adding) = (None::<Together>, Vec::new());
    for (at, name) in request.envelopes.iter().enumerate() {
        let (CompactCiphertext { form, mask, body }, fleet) = ciphertext(cloud, name)?;
        match &mut together {
            None => {
                let engine = cloud.engine(form.parameters)?;
                adding = request.begin(&form, &engine.compact(&form)?)?;
                let windows = vec![(form.key, mask)];
                let form = form.into();
                together = Some(Together { form, fleet, one_key: true, one_mask: true, windows });
            }
            Some(known) => known.admit(form, mask, fleet)?,
        }
        for Adding { wanted, sum } in &mut adding {
            wanted.add(at, &body, sum).map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
    }
    let together = together.ok_or_else(|| wrong("no envelope is named"))?;
    Ok(together.answer(&adding)?)
}

impl Together {
    /// Takes another window of the form: of the same key, or of another key under the same mask of the same fleet.
    fn admit(&mut self, form: CompactForm, mask: MaskName, fleet: Option<FleetId>) -> Result<(), Problem> {
        if FleetForm::from(form) != self.form {
            return Err(wrong("the envelopes' ciphertexts have several forms"));
        }
        let (key, first) = self.windows[0];
        self.one_key &= form.key == key;
        self.one_mask &= mask == first && fleet.is_some() && fleet == self.fleet;
        if !self.one_key && !self.one_mask {
            return Err(wrong(
                "the envelopes' ciphertexts are under several keys, and not under one mask of a fleet",
            ));
        }
        self.windows.push((form.key, mask));
        Ok(())
    }

    /// The frame of the sums: of a fleet, where there is more than one key.
    fn answer(self, adding: &[Adding<'_>]) -> Result<Vec<u8>, WireError> {
        let Self { form, fleet, one_key, windows, .. } = self;
        let (key, mask) = windows[0];
        let (Some(fleet), false) = (fleet, one_key) else {
            let sum = |Adding { wanted, sum }: &Adding<'_>| {
                let (first, places) = wanted.places;
                CompactSum { first, places, body: sum.to_bytes() }
            };
            let masks = windows.into_iter().map(|(_, mask)| mask).collect();
            return CompactSums { form: form.under(key), masks, sums: adding.iter().map(sum).collect() }
                .write();
        };
        let sum = |Adding { wanted, sum }: &Adding<'_>| {
            let (first, places) = wanted.places;
            FleetSum { windows: wanted.envelopes, first, places, body: sum.to_bytes() }
        };
        let start =
            i64::try_from(mask.sequence).map_err(|_| WireError::Value("a fleet's masks begin in 1970"))?;
        let keys = windows.into_iter().map(|(key, _)| key).collect();
        FleetSums { form, fleet, start, keys, sums: adding.iter().map(sum).collect() }.write()
    }
}

/// The ciphertext of an envelope, and its fleet if it is under a mask of one.
fn ciphertext(cloud: &Cloud, name: &str) -> Result<(CompactCiphertext, Option<FleetId>), Problem> {
    let unknown =
        || Problem::unprocessable("unknown-envelope", format!("there is no envelope of the name {name}"));
    let id = Id::parse(name).ok_or_else(unknown)?;
    cloud.store.envelope(id)?.ok_or_else(unknown)?;
    let envelope = cloud.store.stored(id)?;
    if frame_kind(&envelope.body)? != Kind::CompactCiphertext {
        return Err(wrong("only compact ciphertexts are added so: for others there are jobs"));
    }
    let ciphertext = CompactCiphertext::read(&envelope.body)?;
    let fleet = envelope.window().and_then(|(stream, _)| stream.fleet());
    let fleet = fleet.filter(|_| ciphertext.mask.is_shared());
    Ok((ciphertext, fleet))
}

impl Request {
    fn check(&self) -> Result<(), Problem> {
        let (envelopes, sums) = (self.envelopes.len(), self.sums.len());
        if envelopes > MOST_SUMMED || sums > MOST_SUMS {
            return Err(wrong("a request names at most 4096 envelopes and 4096 sums"));
        }
        let mut additions = 0;
        for wanted in &self.sums {
            wanted.check(envelopes)?;
            additions += wanted.envelopes.1 as usize;
        }
        if additions > MOST_ADDITIONS {
            return Err(wrong("the sums of a request have at most 65536 envelopes together"));
        }
        Ok(())
    }

    /// The sums of nothing.
    fn begin(&self, form: &CompactForm, places: &Form) -> Result<Vec<Adding<'_>>, Problem> {
        let mut bytes = 0;
        let mut adding = Vec::with_capacity(self.sums.len());
        for wanted in &self.sums {
            let (first, count) = wanted.places;
            let end = usize::from(first) + usize::from(count);
            if count == 0 || end > places.places() {
                return Err(wrong("a sum has places that the ciphertexts have not"));
            }
            bytes += form.bytes(count);
            adding.push(Adding { wanted, sum: Sum::at(places, first.into()..end) });
        }
        if bytes > LARGEST_ANSWER {
            return Err(wrong("the sums take more than 16 MiB: ask for fewer at once"));
        }
        Ok(adding)
    }
}

impl Wanted {
    fn check(&self, envelopes: usize) -> Result<(), Problem> {
        let (first, count) = (self.envelopes.0 as usize, self.envelopes.1 as usize);
        if count == 0 || first.checked_add(count).is_none_or(|end| end > envelopes) {
            return Err(wrong("a sum is of envelopes that the request does not name"));
        }
        let expected = count.checked_mul(self.places.1.into());
        if self.weights.as_ref().is_some_and(|weights| Some(weights.len()) != expected) {
            return Err(wrong("there is a weight for each place of each envelope of a sum"));
        }
        Ok(())
    }

    /// Adds the envelope at a position of the request, if it is one of the sum's.
    fn add(&self, at: usize, body: &[u8], sum: &mut Sum) -> Result<(), CompactError> {
        let (first, count) = (self.envelopes.0 as usize, self.envelopes.1 as usize);
        let Some(at) = at.checked_sub(first).filter(|at| *at < count) else { return Ok(()) };
        let Some(weights) = &self.weights else { return sum.add(body, 1) };
        let places = usize::from(self.places.1);
        let weights: Vec<i64> =
            weights.iter().skip(at * places).take(places).map(|weight| (*weight).into()).collect();
        sum.add_each(body, &weights)
    }
}

fn wrong(detail: &str) -> Problem {
    Problem::unprocessable("wrong-sum", detail)
}

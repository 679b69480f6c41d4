//! Sums of compact ciphertexts: integers modulo 2^w, which need no key. The windows are under one key, or under several
//! keys and one mask of their fleet.

use sotto_compact::{CompactError, Form, Sum};
use sotto_rlwe::KeyId;
use sotto_wire::{
    CompactCiphertext, CompactForm, CompactSum, CompactSums, Envelope, FleetForm, FleetId, FleetSum,
    FleetSums, MOST_SUMMED, MOST_SUMS, MaskName, SumRequest, WireError,
};

/// Largest number of additions of a request, over all its sums.
const MOST_ADDITIONS: usize = 1 << 16;
/// Largest total size in bytes of the sums' bodies: 16 MiB.
pub const LARGEST_SUMS: usize = 16 << 20;

/// The reason why sums are refused.
///
/// Example: [`Summing`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SumError {
    /// The request is invalid.
    #[error("{0}")]
    Request(&'static str),
    /// A body does not fit its form.
    #[error(transparent)]
    Body(#[from] CompactError),
    /// A frame cannot be read or written.
    #[error(transparent)]
    Frame(#[from] WireError),
}

/// The compact ciphertext of a window, and its fleet if it is under a mask of one.
///
/// Example: [`Summing`]
pub type SummedWindow = (CompactCiphertext, Option<FleetId>);

/// Returns the compact ciphertext of an envelope.
///
/// # Errors
/// [`SumError::Request`] if the ciphertext is not compact.
pub fn window(envelope: &Envelope) -> Result<SummedWindow, SumError> {
    let refused = SumError::Request("only compact ciphertexts can be summed: run a job on others");
    let ciphertext = envelope.body().compact().ok_or(refused)?;
    let fleet = envelope.window().and_then(|(stream, _)| stream.fleet());
    let fleet = fleet.filter(|_| ciphertext.mask.is_shared());
    Ok((ciphertext.clone(), fleet))
}

/// Sums in progress. Windows are added one by one; only the sums are in memory.
///
/// ```
/// use sotto_compact::Form;
/// use sotto_evaluate::{SumError, Summing, SummedWindow};
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{CompactCiphertext, CompactForm, CompactSums, MaskName, SumRequest};
///
/// // Windows of two places with 8 bits each.
/// let form = CompactForm { parameters: ParameterId([3; 32]), key: KeyId([1; 16]), places: 2, width: 8 };
/// let window = |sequence: u64, body: [u8; 2]| -> SummedWindow {
///     let mask = MaskName { salt: [9; 12], sequence };
///     (CompactCiphertext { form, mask, body: body.to_vec() }, None)
/// };
/// let wanted = SumRequest { envelopes: (0, 2), places: (0, 2), weights: None };
/// let mut summing = Summing::new(2, vec![wanted])?;
/// let places = Form::new(64, 1_099_511_627_689, 17, 2, 8)?;
/// summing.add::<SumError>(&window(0, [200, 10]), |_| Ok(places))?;
/// summing.add::<SumError>(&window(1, [100, 20]), |_| Ok(places))?;
/// let sums = CompactSums::read(&summing.frame()?, 1 << 20)?;
/// // 200 + 100 modulo 2^8, and 10 + 20.
/// assert_eq!(sums.sums[0].body, [44, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Summing<'r> {
    requested: Vec<SumRequest<'r>>,
    together: Option<Together>,
    sums: Vec<Sum>,
    added: usize,
}

/// The common properties of the windows added so far.
struct Together {
    form: FleetForm,
    /// The fleet, if the first window is under a mask of one.
    fleet: Option<FleetId>,
    // True while all windows are under the first one's key, and while all are under its mask.
    one_key: bool,
    one_mask: bool,
    windows: Vec<(KeyId, MaskName)>,
}

impl<'r> Summing<'r> {
    /// Checks a request for sums of `envelopes` envelopes.
    ///
    /// # Errors
    /// [`SumError::Request`] if there are too many envelopes, sums or additions, or a sum names envelopes beyond the
    /// request.
    pub fn new(envelopes: usize, requested: Vec<SumRequest<'r>>) -> Result<Self, SumError> {
        if envelopes > MOST_SUMMED || requested.len() > MOST_SUMS {
            return Err(SumError::Request("a request names at most 4096 envelopes and 4096 sums"));
        }
        let mut additions = 0;
        for wanted in &requested {
            check(wanted, envelopes)?;
            additions += wanted.envelopes.1 as usize;
        }
        if additions > MOST_ADDITIONS {
            return Err(SumError::Request("the sums of a request have at most 65536 envelopes together"));
        }
        Ok(Self { requested, together: None, sums: Vec::new(), added: 0 })
    }

    /// Adds the next window. It must have the form of the first one, and the same key, or another key under the same
    /// mask of the same fleet.
    ///
    /// `places` returns the places of a form; it is called once.
    ///
    /// # Errors
    /// [`SumError`] if the window does not match the others or its body does not fit; any error of `places`.
    pub fn add<E: From<SumError>>(
        &mut self,
        (ciphertext, fleet): &SummedWindow,
        places: impl FnOnce(&CompactForm) -> Result<Form, E>,
    ) -> Result<(), E> {
        let CompactCiphertext { form, mask, body } = ciphertext;
        match &mut self.together {
            None => {
                let places = places(form)?;
                self.sums = self.begin(form, &places)?;
                let windows = vec![(form.key, *mask)];
                let form = (*form).into();
                self.together =
                    Some(Together { form, fleet: *fleet, one_key: true, one_mask: true, windows });
            }
            Some(known) => known.admit(form, *mask, *fleet)?,
        }
        for (wanted, sum) in self.requested.iter().zip(&mut self.sums) {
            add(wanted, self.added, body, sum).map_err(SumError::from)?;
        }
        self.added += 1;
        Ok(())
    }

    /// Returns the frame of the sums: fleet sums if the windows have several keys, else compact sums.
    ///
    /// # Errors
    /// [`SumError::Request`] if no window was added.
    pub fn frame(self) -> Result<Vec<u8>, SumError> {
        let together = self.together.ok_or(SumError::Request("no envelope is named"))?;
        let Together { form, fleet, one_key, windows, .. } = together;
        let (key, mask) = windows[0];
        let sums = self.requested.iter().zip(&self.sums);
        let (Some(fleet), false) = (fleet, one_key) else {
            let sum = |(wanted, sum): (&SumRequest<'_>, &Sum)| {
                let (first, places) = wanted.places;
                CompactSum { first, places, body: sum.to_bytes() }
            };
            let masks = windows.into_iter().map(|(_, mask)| mask).collect();
            return Ok(CompactSums { form: form.under(key), masks, sums: sums.map(sum).collect() }.write()?);
        };
        let sum = |(wanted, sum): (&SumRequest<'_>, &Sum)| {
            let (first, places) = wanted.places;
            FleetSum { windows: wanted.envelopes, first, places, body: sum.to_bytes() }
        };
        let start =
            i64::try_from(mask.sequence).map_err(|_| WireError::Value("a fleet's masks begin in 1970"))?;
        let keys = windows.into_iter().map(|(key, _)| key).collect();
        Ok(FleetSums { form, fleet, start, keys, sums: sums.map(sum).collect() }.write()?)
    }

    /// Returns a zero sum for each requested one.
    fn begin(&self, form: &CompactForm, places: &Form) -> Result<Vec<Sum>, SumError> {
        let mut bytes = 0;
        let mut sums = Vec::with_capacity(self.requested.len());
        for wanted in &self.requested {
            let (first, count) = wanted.places;
            let end = usize::from(first) + usize::from(count);
            if count == 0 || end > places.places() {
                return Err(SumError::Request("a sum names places that the ciphertexts do not have"));
            }
            bytes += form.bytes(count);
            sums.push(Sum::at(places, first.into()..end));
        }
        if bytes > LARGEST_SUMS {
            return Err(SumError::Request("the sums take more than 16 MiB: ask for fewer at once"));
        }
        Ok(sums)
    }
}

impl Together {
    fn admit(&mut self, form: &CompactForm, mask: MaskName, fleet: Option<FleetId>) -> Result<(), SumError> {
        if FleetForm::from(*form) != self.form {
            return Err(SumError::Request("the envelopes' ciphertexts have several forms"));
        }
        let (key, first) = self.windows[0];
        self.one_key &= form.key == key;
        self.one_mask &= mask == first && fleet.is_some() && fleet == self.fleet;
        if !self.one_key && !self.one_mask {
            return Err(SumError::Request(
                "the envelopes' ciphertexts are under several keys, and not under one mask of a fleet",
            ));
        }
        self.windows.push((form.key, mask));
        Ok(())
    }
}

fn check(wanted: &SumRequest<'_>, envelopes: usize) -> Result<(), SumError> {
    let (first, count) = (wanted.envelopes.0 as usize, wanted.envelopes.1 as usize);
    if count == 0 || first.checked_add(count).is_none_or(|end| end > envelopes) {
        return Err(SumError::Request("a sum names more envelopes than the request"));
    }
    let expected = count.checked_mul(wanted.places.1.into());
    if wanted.weights.is_some_and(|weights| Some(weights.len()) != expected) {
        return Err(SumError::Request("there is a weight for each place of each envelope of a sum"));
    }
    Ok(())
}

/// Adds the envelope at position `at` of the request, if the sum includes it.
fn add(wanted: &SumRequest<'_>, at: usize, body: &[u8], sum: &mut Sum) -> Result<(), CompactError> {
    let (first, count) = (wanted.envelopes.0 as usize, wanted.envelopes.1 as usize);
    let Some(at) = at.checked_sub(first).filter(|at| *at < count) else { return Ok(()) };
    let Some(weights) = wanted.weights else { return sum.add(body, 1) };
    let places = usize::from(wanted.places.1);
    let weights: Vec<i64> =
        weights.iter().skip(at * places).take(places).map(|weight| (*weight).into()).collect();
    sum.add_each(body, &weights)
}

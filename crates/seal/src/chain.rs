//! Maps our parameters to SEAL's: the names of their levels and the order of their primes.

use sotto_rlwe::{Params, Scheme};

use crate::error::SealError;
use crate::parameters::{ParmsId, SealParameters};

/// Parameters whose objects can be read from SEAL's files and written to them. A clone copies one hash a
/// level and little else.
///
/// ```
/// use sotto_rlwe::{Bfv, Params};
/// use sotto_seal::{Chain, SealParameters, Writing};
///
/// let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// let chain = Chain::new(&params)?;
/// let file = chain.seal().write(Writing::default()); // seal::EncryptionParameters::load reads it
/// let again = Chain::<Bfv>::from_seal(&SealParameters::read(&file)?, None)?;
/// assert_eq!(again.parms_id(1), chain.parms_id(1));
/// assert_eq!(again.params().spec(), params.spec());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chain<S: Scheme> {
    params: Params<S>,
    seal: SealParameters,
    key: ParmsId,
    /// The names of the levels, lowest first.
    levels: Vec<ParmsId>,
}

impl<S: Scheme> Chain<S> {
    /// Makes a chain of our parameters.
    ///
    /// # Errors
    /// [`SealError::Unwritable`] if SEAL has no equivalent: several special primes, several primes a digit,
    /// or primes above 60 bits.
    pub fn new(params: &Params<S>) -> Result<Self, SealError> {
        let seal = SealParameters::of(params.spec())?;
        let levels = (1..=params.spec().data.len()).map(|count| seal.parms_id(count)).collect();
        let key = seal.parms_id(seal.primes.len());
        Ok(Self { params: params.clone(), seal, key, levels })
    }

    /// Makes a chain of SEAL's parameters, which must be within 128 bits by the standard of 2018 (the profile
    /// `he-standard-2018`), SEAL's default. For CKKS, values were encoded with the scale 2^`scale_bits`.
    /// Noise bounds hold for every ternary secret.
    ///
    /// # Errors
    /// [`SealError::Scheme`] for another scheme, [`SealError::Value`] for CKKS without a scale,
    /// [`SealError::Parameters`] for parameters that are refused.
    pub fn from_seal(seal: &SealParameters, scale_bits: Option<u32>) -> Result<Self, SealError> {
        Self::check_scheme(seal)?;
        Self::new(&Params::with_security(seal.spec(scale_bits)?, SealParameters::security())?)
    }

    /// Makes a chain of SEAL's parameters of any security (`sec_level_type::none`), for tests and teaching.
    /// Noise bounds hold for secrets within [`sotto_rlwe::Norms::secret_limit`], which 99 in 100 are.
    ///
    /// # Errors
    /// Those of [`from_seal`](Self::from_seal).
    pub fn insecure(seal: &SealParameters, scale_bits: Option<u32>) -> Result<Self, SealError> {
        Self::check_scheme(seal)?;
        Self::new(&Params::insecure(seal.spec(scale_bits)?)?)
    }

    fn check_scheme(seal: &SealParameters) -> Result<(), SealError> {
        if seal.scheme == S::ID {
            return Ok(());
        }
        Err(SealError::Scheme { expected: S::ID, found: seal.scheme })
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the parameters in SEAL's form.
    pub fn seal(&self) -> &SealParameters {
        &self.seal
    }

    /// Returns the name of the key level.
    pub fn key_parms_id(&self) -> ParmsId {
        self.key
    }

    /// Returns the name of a level.
    pub fn parms_id(&self, level: usize) -> ParmsId {
        self.levels[level]
    }

    /// Returns the level with this name.
    pub(crate) fn level(&self, id: ParmsId) -> Result<usize, SealError> {
        if let Some(level) = self.levels.iter().position(|known| *known == id) {
            return Ok(level);
        }
        if id == self.key {
            return Err(SealError::Level("the object is at the key level: it is a key, not a ciphertext"));
        }
        Err(SealError::ParmsId)
    }

    /// Returns our limbs of a key in SEAL's order: SEAL puts the special prime last, we put it first.
    pub(crate) fn key_order(&self) -> Vec<usize> {
        let special = self.params.spec().special.len();
        self.params.limbs(self.params.top_level()).chain(0..special).collect()
    }

    /// Returns our limbs of a level in SEAL's order.
    pub(crate) fn level_order(&self, level: usize) -> Vec<usize> {
        self.params.limbs(level).collect()
    }
}

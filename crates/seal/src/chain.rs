//! Parameters of ours with the names that SEAL has for their levels, and the order in which it has their primes.

use sotto_rlwe::{Params, Scheme};

use crate::error::SealError;
use crate::parameters::{ParmsId, SealParameters};

/// Parameters whose objects can be read from SEAL's files and written to them. Cheap to clone but for a hash a level.
#[derive(Clone, Debug)]
pub struct Chain<S: Scheme> {
    params: Params<S>,
    seal: SealParameters,
    key: ParmsId,
    /// Of each level, lowest first.
    levels: Vec<ParmsId>,
}

impl<S: Scheme> Chain<S> {
    /// Of parameters of ours. Refused where SEAL has nothing like them: several special primes or primes a digit.
    pub fn new(params: &Params<S>) -> Result<Self, SealError> {
        let seal = SealParameters::of(params.spec())?;
        let levels = (1..=params.spec().data.len()).map(|count| seal.parms_id(count)).collect();
        let key = seal.parms_id(seal.primes.len());
        Ok(Self { params: params.clone(), seal, key, levels })
    }

    /// Of SEAL's parameters, which must be within 128 bits by the standard of 2018 (the profile `he-standard-2018`), as SEAL
    /// asks unless it is told not to. CKKS: values were encoded with the scale 2^`scale_bits`. Noise bounds hold for every
    /// ternary secret.
    pub fn from_seal(seal: &SealParameters, scale_bits: Option<u32>) -> Result<Self, SealError> {
        Self::check_scheme(seal)?;
        Self::new(&Params::with_security(seal.spec(scale_bits)?, SealParameters::security())?)
    }

    /// Of SEAL's parameters, whatever their security (`sec_level_type::none`), for tests and teaching. Noise bounds hold for
    /// secrets within [`sotto_rlwe::Norms::secret_limit`], as 99 in 100 are.
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

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The parameters as SEAL has them.
    pub fn seal(&self) -> &SealParameters {
        &self.seal
    }

    /// The name of the level of keys.
    pub fn key_parms_id(&self) -> ParmsId {
        self.key
    }

    /// The name of a level.
    pub fn parms_id(&self, level: usize) -> ParmsId {
        self.levels[level]
    }

    /// The level of a name.
    pub(crate) fn level(&self, id: ParmsId) -> Result<usize, SealError> {
        if let Some(level) = self.levels.iter().position(|known| *known == id) {
            return Ok(level);
        }
        if id == self.key {
            return Err(SealError::Level("the object is at the level of keys: it is a key, no ciphertext"));
        }
        Err(SealError::ParmsId)
    }

    /// Our limbs of a key in SEAL's order: the special prime is the last one there, the first one here.
    pub(crate) fn key_order(&self) -> Vec<usize> {
        let special = self.params.spec().special.len();
        self.params.limbs(self.params.top_level()).chain(0..special).collect()
    }

    /// Our limbs of a level in SEAL's order.
    pub(crate) fn level_order(&self, level: usize) -> Vec<usize> {
        self.params.limbs(level).collect()
    }
}

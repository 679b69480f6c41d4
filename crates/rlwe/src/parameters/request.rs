//! Chains on request: with given levels or bits, digits and special primes, within a security cell.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::chain_bits::ChainBits;
use super::identity::SchemeId;
use super::security::SecurityTarget;
use super::spec::ParameterSpec;
use crate::error::ParameterError;
use crate::scheme::Scheme;
use crate::schemes::with_scheme;

/// The split of the data primes into digits of key switching. More digits leave more bits for data, but cost time and
/// larger keys.
///
/// Example: [`ChainRequest`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// This many digits, all but the last with equally many primes.
    Count(usize),
    /// This many primes a digit.
    Primes(usize),
}

/// The requested properties of a chain. Every None is chosen by [`ChainRequest::build`]; [`ChainRequest::new`] is the
/// minimal request.
///
/// ```
/// use sotto_rlwe::{Bgv, ChainRequest, Digits, Params, SchemeId, SecurityLevel, SecurityProfile, SecurityTarget};
///
/// let security = SecurityTarget::new(SecurityProfile::Guidelines2024, SecurityLevel::Bits192);
/// let request = ChainRequest {
///     security,
///     special_primes: Some(2),
///     digits: Some(Digits::Count(3)),
///     ..ChainRequest::new(SchemeId::Bgv, 16384, 65537)
/// };
/// let params = Params::<Bgv>::with_security(request.build()?, security)?;
/// assert_eq!(params.digit_count(), 3);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainRequest {
    /// Decides which primes are possible.
    pub scheme: SchemeId,
    /// The degree n, a power of two with a cell in the security table.
    pub degree: usize,
    /// BFV, BGV: t. CKKS: ignored.
    pub plain_modulus: u64,
    /// The security cell that the whole modulus must fit.
    pub security: SecurityTarget,
    /// Special primes, 0 to 16; with 0 nothing can be relinearised or rotated. None: as many as a digit has primes, but
    /// none below n = 4096.
    pub special_primes: Option<usize>,
    /// The digits. None: as many primes a digit as there are special primes if these are given, else four digits.
    pub digits: Option<Digits>,
    /// Levels below the top one: data primes except the first. None: as many as fit.
    pub levels: Option<usize>,
    /// Bits of the data modulus, met within 3 %, for comparisons with other libraries. None: as many as fit.
    pub data_bits: Option<u32>,
    /// Bits of q_0. None: for BFV and BGV those of the other primes, for CKKS ten more than the scale.
    pub first_bits: Option<u32>,
    /// Bits of the other data primes; in CKKS also of the scale. None: for BFV and BGV the largest that fit, up to 50
    /// (60 if the number of levels is given); for CKKS 40, or the nearest that fits.
    pub other_bits: Option<u32>,
    /// Bits of a special prime. None: as few as the largest digit needs, but at least those of a data prime.
    pub special_bits: Option<u32>,
}

/// Maximum bits of a prime unless more are requested: the range of 52-bit vector arithmetic.
const USUAL_BITS: u32 = 50;
const MOST_BITS: u32 = 60;
/// The scale of CKKS unless another is requested.
const USUAL_SCALE: u32 = 40;
/// The smallest scale chosen for a chain with levels; the next constant is the smallest scale accepted.
const SMALLEST_SCALE: u32 = 25;
const LEAST_SCALE: u32 = 10;
/// The bits of q_0 beyond the scale: room for the integer part of values at the last level. Fewer in a chain without
/// levels.
const USUAL_HEADROOM: u32 = 10;
const LEAST_HEADROOM: u32 = 8;
const LAST_HEADROOM: u32 = 4;
/// Maximum number of chains of the right size that are tried until one has enough primes.
const MOST_ATTEMPTS: usize = 64;

const WAY_OUT: &str = "ask for fewer levels or bits, more digits with fewer special primes, or a larger n";
const LARGER: &str = "ask for larger primes, or fewer levels";

/// A chain in bits, and its digits.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    bits: ChainBits,
    digit_primes: usize,
}

impl ChainRequest {
    /// Requests as many bits as 128-bit security by the 2024 guidelines allows, in equal primes and about four digits.
    /// `plain_modulus` is t; CKKS ignores it.
    pub fn new(scheme: SchemeId, degree: usize, plain_modulus: u64) -> Self {
        Self {
            scheme,
            degree,
            plain_modulus,
            security: SecurityTarget::default(),
            special_primes: None,
            digits: None,
            levels: None,
            data_bits: None,
            first_bits: None,
            other_bits: None,
            special_bits: None,
        }
    }

    /// Requests one data prime of this many bits and no special prime: for sums alone.
    pub fn one_prime(scheme: SchemeId, degree: usize, plain_modulus: u64, bits: u32) -> Self {
        Self {
            special_primes: Some(0),
            levels: Some(0),
            first_bits: Some(bits),
            other_bits: Some(bits),
            ..Self::new(scheme, degree, plain_modulus)
        }
    }

    /// Builds the best chain for the request and checks it. Its primes are chosen like those of default chains, so
    /// equal requests give equal parameters. Pass the same security target to [`super::Params::with_security`].
    ///
    /// # Errors
    /// [`ParameterError`] with the reason and the remedy if there is no such chain.
    pub fn build(&self) -> Result<ParameterSpec, ParameterError> {
        let limit = self.security.limit(self.degree)?;
        let (mut fitting, others): (Vec<_>, Vec<_>) =
            self.candidates().into_iter().partition(|c| c.bits.modulus_bits() <= limit);
        if self.data_bits.is_none() && self.scheme.is_exact() {
            // Keep the largest candidate of each number of primes.
            fitting.sort_by_key(|c| (c.bits.others.1, MOST_BITS - c.bits.others.0));
            fitting.dedup_by_key(|c| c.bits.others.1);
        }
        fitting.sort_by_key(|candidate| self.rank(candidate));
        let mut refusal = None;
        for candidate in fitting.iter().take(MOST_ATTEMPTS) {
            match self.realise(candidate) {
                Err(error @ ParameterError::PlainModulus { .. }) => return Err(error),
                Err(error) => refusal = refusal.or(Some(error)),
                found => return found,
            }
        }
        let smallest = others.iter().map(|candidate| candidate.bits.modulus_bits()).min();
        let reason = match smallest {
            Some(bits) => format!("it would take {bits} bits, and {} allows {limit}", self.security),
            None => String::from("no primes of 14 to 60 bits make these counts and sizes"),
        };
        Err(refusal.unwrap_or(ParameterError::Request { degree: self.degree, reason, way_out: WAY_OUT }))
    }

    /// Returns every chain in bits with the requested properties, of any size.
    fn candidates(&self) -> Vec<Candidate> {
        let most = if self.scheme.is_exact() { sotto_ring::MOST_SOURCES } else { 64 };
        let counts = match self.levels {
            Some(levels) => levels.saturating_add(1)..=levels.saturating_add(1).min(most),
            None => 1..=most,
        };
        let mut candidates = Vec::new();
        for count in counts {
            let Some((special, digit_primes)) = self.split(count) else { continue };
            for bits in self.sizes(count) {
                for first in self.firsts(count, bits) {
                    candidates.extend(self.candidate(special, digit_primes, first, (bits, count - 1)));
                }
            }
        }
        candidates
    }

    /// Returns the range of bits of the data primes except the first, or of the scale if there is only the first.
    fn sizes(&self, count: usize) -> RangeInclusive<u32> {
        match (self.other_bits, self.scheme.is_exact()) {
            (Some(bits), _) => bits..=bits.min(MOST_BITS),
            (None, false) if count == 1 => LEAST_SCALE..=MOST_BITS,
            (None, false) => SMALLEST_SCALE.max(self.least_bits())..=MOST_BITS,
            (None, true) => self.least_bits()..=MOST_BITS,
        }
    }

    /// Returns the range of bits of the first data prime, given the bits of the others.
    fn firsts(&self, count: usize, bits: u32) -> RangeInclusive<u32> {
        let headroom = if count == 1 { LAST_HEADROOM } else { LEAST_HEADROOM };
        match (self.first_bits, self.scheme.is_exact()) {
            (Some(first), _) => first..=first.min(MOST_BITS),
            (None, false) => (bits + headroom).clamp(self.least_bits(), MOST_BITS)..=MOST_BITS,
            (None, true) => bits..=bits,
        }
    }

    /// Returns the bits that a prime needs at least: a prime that is 1 modulo 2n has more bits than 2n − 1.
    fn least_bits(&self) -> u32 {
        (2 * self.degree).ilog2() + 1
    }

    /// Returns the number of special primes, and of primes a digit, for a chain of this many data primes.
    fn split(&self, count: usize) -> Option<(usize, usize)> {
        let usual = match self.special_primes {
            Some(special) if special > 0 => special,
            _ => count.div_ceil(4),
        };
        let digit_primes = match self.digits {
            None => usual,
            Some(Digits::Primes(primes)) => primes,
            Some(Digits::Count(digits)) => {
                let primes = count.div_ceil(digits.max(1));
                (count.div_ceil(primes) == digits).then_some(primes)?
            }
        };
        let none = self.digits.is_none() && self.degree < 4096;
        let special = self.special_primes.unwrap_or(if none { 0 } else { digit_primes });
        let sound = (1..=16).contains(&digit_primes) && special <= 16;
        // Without special primes the noise of key switching is as large as a digit.
        let smallest = special == 0 && self.digits.is_none();
        sound.then_some((special, if smallest { 1 } else { digit_primes }))
    }

    fn candidate(
        &self,
        special: usize,
        digit_primes: usize,
        first: u32,
        others: (u32, usize),
    ) -> Option<Candidate> {
        let in_digit = |primes: usize| primes.min(others.1) as u32 * others.0;
        let digit = (first + in_digit(digit_primes - 1)).max(in_digit(digit_primes));
        let needed = digit.div_ceil(special.max(1) as u32);
        let special_bits = match self.special_bits {
            Some(bits) => (bits >= needed).then_some(bits)?,
            None => needed.max(others.0),
        };
        let special = if special == 0 { (0, 0) } else { (special_bits, special) };
        let bits = ChainBits { degree: self.degree, special, first, others };
        let near = |asked: u32| 100 * u64::from(bits.data_bits().abs_diff(asked)) <= 3 * u64::from(asked);
        let sound = special.0 <= MOST_BITS && first <= MOST_BITS && self.data_bits.is_none_or(near);
        sound.then_some(Candidate { bits, digit_primes })
    }

    /// Returns the rank of a candidate; smaller is better.
    fn rank(&self, candidate: &Candidate) -> [u32; 5] {
        let Candidate { bits, digit_primes } = candidate;
        let (size, count) = (bits.others.0, bits.others.1 + 1);
        let off = self.data_bits.map_or(0, |asked| asked.abs_diff(bits.data_bits()));
        if !self.scheme.is_exact() {
            let headroom = bits.first.saturating_sub(size).abs_diff(USUAL_HEADROOM);
            let unusual = size.abs_diff(USUAL_SCALE);
            if count == 1 {
                return [1, off, headroom, unusual, 0];
            }
            [0, off, unusual, 64 - count as u32, headroom]
        } else {
            let many = self.levels.is_some() || bits.special.1 == 0;
            let usual = if many { MOST_BITS } else { USUAL_BITS };
            // An incomplete last digit costs as much as a full one.
            let uneven = u32::from(self.data_bits.is_none() && !count.is_multiple_of(*digit_primes));
            if size > usual && self.data_bits.is_none() {
                return [1, 64 - count as u32, 0, 0, MOST_BITS - size];
            }
            [u32::from(size > usual), uneven, count as u32, off, MOST_BITS - size]
        }
    }

    /// Returns the chain with its primes, if enough of these bits exist and every check passes.
    fn realise(&self, candidate: &Candidate) -> Result<ParameterSpec, ParameterError> {
        let ChainBits { special: (special_bits, special_count), first, others, .. } = candidate.bits;
        let (special, data) = candidate.bits.primes(self.scheme);
        // All primes must have their full bit length, except scale primes, which lie on both sides of the scale.
        let large = |p: &u64, bits: u32| p.ilog2() + 1 >= bits;
        let real = !self.scheme.is_exact();
        let found = special.len() == special_count
            && data.len() == others.1 + 1
            && special.iter().all(|p| large(p, special_bits))
            && large(&data[0], first)
            && (real || data[1..].iter().all(|p| large(p, others.0)));
        if !found {
            let reason = format!(
                "there are not {} primes p of {} bits with p mod {} = 1",
                special_count + others.1 + 1,
                others.0,
                2 * self.degree
            );
            return Err(ParameterError::Request {
                degree: self.degree,
                reason,
                way_out: "ask for larger primes",
            });
        }
        let spec = ParameterSpec {
            scheme: self.scheme,
            degree: self.degree,
            special,
            data,
            digit_primes: candidate.digit_primes,
            plain: if real { u64::from(others.0) } else { self.plain_modulus },
        };
        spec.check_chain()?;
        self.security.check(&spec)?;
        with_scheme!(self.scheme, S => S::check(&spec)).map_err(|error| match error {
            ParameterError::Chain(_) if real => self.too_sparse(others.0),
            other => other,
        })?;
        Ok(spec)
    }

    fn too_sparse(&self, bits: u32) -> ParameterError {
        let modulus = 2 * self.degree;
        let reason = format!(
            "primes p with p mod {modulus} = 1 are too sparse near 2^{bits} to hold every level's scale within 2^±0.01"
        );
        ParameterError::Request { degree: self.degree, reason, way_out: LARGER }
    }
}

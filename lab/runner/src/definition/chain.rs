//! The primes of a scheme and a size, and the requests that ask an engine for them.

use sotto_harness::protocol::Prepare;
use sotto_ring::primes;
use sotto_rlwe::{
    ChainRequest, DefaultChain, Digits, ParameterSpec, SchemeId, SecurityLevel, SecurityProfile,
    SecurityTarget, largest_modulus_bits,
};

use super::{DataBits, Parameters, PrimeBits, Scheme};
use crate::error::RunnerError;

/// The sweep over the number of special primes.
const SPECIAL_PRIMES: &str = "special primes";

/// The primes of one scheme at one size, and further facts that an engine needs.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The scheme that the primes suit.
    pub scheme: Scheme,
    /// n.
    pub degree: usize,
    /// The parameters in our library's form; all engines get its data primes. None for schemes without a ring.
    pub spec: Option<ParameterSpec>,
    /// t, for BFV and BGV.
    pub plain_modulus: Option<u64>,
    /// True if the parameters are below 128 bits by the newer tables, so that libraries must be told to accept them.
    pub insecure: bool,
    /// True if a plaintext holds a single value.
    pub scalar: bool,
    /// The values to encrypt; None for random ones.
    pub values: Option<[u32; 2]>,
    /// True if each engine may use its fastest number of special primes.
    pub free_digits: bool,
}

impl Parameters {
    /// Returns true if the parameters are for this scheme and size.
    pub fn covers(&self, scheme: Scheme, degree: usize) -> bool {
        (self.schemes.is_empty() || self.schemes.contains(&scheme))
            && (self.degrees.is_empty() || self.degrees.contains(&degree))
    }

    /// Returns the primes for a scheme and a size.
    ///
    /// # Errors
    /// `Parameters` if no primes meet the rules.
    pub fn chain(&self, scheme: Scheme, degree: usize) -> Result<Chain, RunnerError> {
        let id = match scheme {
            Scheme::Bfv => SchemeId::Bfv,
            Scheme::Bgv => SchemeId::Bgv,
            Scheme::Ckks => SchemeId::Ckks,
            _ => {
                let (spec, plain_modulus) = (None, None);
                let (insecure, scalar, free_digits, values) = (false, false, false, None);
                return Ok(Chain {
                    scheme,
                    degree,
                    spec,
                    plain_modulus,
                    insecure,
                    scalar,
                    values,
                    free_digits,
                });
            }
        };
        let asked = self.asked_bits(scheme, degree);
        let t = self.plain_modulus;
        let made = match (&self.primes, asked) {
            (Some(bits), _) => Ok(self.listed(id, degree, bits)),
            (None, None) if self.special_primes.is_none() => DefaultChain::spec(id, degree, t),
            (None, bits) => self.request(id, degree, bits),
        };
        let spec =
            made.map_err(|source| RunnerError::Parameters { scheme: scheme.name(), degree, source })?;
        let strict = SecurityProfile::default();
        let insecure = security_bits(strict, degree, spec.modulus_bits()).is_none();
        let plain_modulus = (scheme != Scheme::Ckks).then_some(t);
        let free_digits = self.primes.is_none() && !self.sweeps.contains_key(SPECIAL_PRIMES);
        let (spec, scalar, values) = (Some(spec), self.scalar, self.values);
        Ok(Chain { scheme, degree, spec, plain_modulus, insecure, scalar, values, free_digits })
    }

    /// Returns the bits that the definition requests for the data modulus.
    fn asked_bits(&self, scheme: Scheme, degree: usize) -> Option<u32> {
        let is_for = |entry: &&DataBits| {
            entry.degree == degree && (entry.schemes.is_empty() || entry.schemes.contains(&scheme))
        };
        self.data_bits.iter().find(is_for).map(|entry| entry.bits)
    }

    /// Returns for each bit length the largest primes below that power of two, without repetition.
    fn listed(&self, id: SchemeId, degree: usize, bits: &PrimeBits) -> ParameterSpec {
        let mut taken: Vec<u64> = Vec::new();
        let mut next = |bits: &u32| {
            let prime = primes::below(1 << bits, degree).find(|prime| !taken.contains(prime)).unwrap_or(0);
            taken.push(prime);
            prime
        };
        let special: Vec<u64> = bits.special.iter().map(&mut next).collect();
        let data: Vec<u64> = bits.data.iter().map(&mut next).collect();
        let plain =
            if id == SchemeId::Ckks { bits.scale.unwrap_or_default().into() } else { self.plain_modulus };
        ParameterSpec { scheme: id, degree, digit_primes: special.len().max(1), special, data, plain }
    }

    fn request(
        &self,
        id: SchemeId,
        degree: usize,
        bits: Option<u32>,
    ) -> Result<ParameterSpec, sotto_rlwe::ParameterError> {
        let level = SecurityLevel::from_bits(self.security_bits).unwrap_or_default();
        ChainRequest {
            security: SecurityTarget::new(self.profile.parse()?, level),
            data_bits: bits,
            special_primes: self.special_primes,
            digits: self.special_primes.map(Digits::Primes),
            ..ChainRequest::new(id, degree, self.plain_modulus)
        }
        .build()
    }
}

impl Chain {
    /// Returns the requests, best first; an engine is prepared with the first that it accepts. `best` is the engine's
    /// fastest number of special primes, if known. Without it the order starts with many, because they make key
    /// switching fast; not every library takes more than one. Some libraries take only the primes' bit lengths.
    pub fn requests(&self, best: Option<usize>) -> Vec<Prepare> {
        let Some(spec) = &self.spec else {
            let key_bits = (self.scheme.has_key_bits()).then_some(self.degree as u32);
            let scheme = self.scheme.name().to_owned();
            return vec![Prepare { scheme, degree: self.degree, key_bits, ..Prepare::default() }];
        };
        let all = spec.special.len();
        let mut counts = vec![all, 1, 0];
        counts.retain(|count| *count <= all);
        counts.dedup();
        let mut requests: Vec<Prepare> = best.map_or_else(Vec::new, |special| self.with_special(special));
        let exact = |special: usize| self.request(spec, special, false);
        let bits = |special: usize| self.request(spec, special, true);
        let (none, some): (Vec<usize>, Vec<usize>) = counts.into_iter().partition(|count| *count == 0);
        let mut checked: Vec<Prepare> = some.iter().map(|count| exact(*count)).collect();
        checked.extend(some.iter().map(|count| bits(*count)));
        requests.extend(self.then_unchecked(checked));
        requests.extend(none.iter().flat_map(|count| [exact(*count), bits(*count)]));
        requests
    }

    /// Returns the requests for `special` special primes, but no more than the chain has.
    pub fn with_special(&self, special: usize) -> Vec<Prepare> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let special = special.min(spec.special.len());
        self.then_unchecked(vec![self.request(spec, special, false), self.request(spec, special, true)])
    }

    /// Adds each request once more without the library's own security check, if our table says that the primes are
    /// secure: the accepted parameters are judged by their primes.
    fn then_unchecked(&self, mut requests: Vec<Prepare>) -> Vec<Prepare> {
        if !self.insecure {
            let unchecked = |request: &Prepare| Prepare { insecure: true, ..request.clone() };
            requests.extend(requests.iter().map(unchecked).collect::<Vec<_>>());
        }
        requests
    }

    fn request(&self, spec: &ParameterSpec, special: usize, in_bits: bool) -> Prepare {
        let (data, special) = (spec.data.clone(), spec.special[..special].to_vec());
        let scale = (spec.scheme == SchemeId::Ckks).then_some(spec.plain as u32);
        let mut prepare = Prepare {
            scheme: self.scheme.name().to_owned(),
            degree: self.degree,
            plain_modulus: self.plain_modulus,
            scale_bits: scale,
            rotations: vec![1],
            insecure: self.insecure,
            encoding: self.scalar.then(|| "scalar".to_owned()),
            values: self.values.map_or_else(Vec::new, |values| values.to_vec()),
            ..Prepare::default()
        };
        if in_bits {
            // The nearest bit length: a prime just above a power of two counts as its exponent, since one bit more
            // would request twice its size.
            let length = |prime: &u64| (*prime as f64).log2().round() as u32;
            prepare.data_bits = data.iter().map(length).collect();
            prepare.special_bits = special.iter().map(length).collect();
        } else {
            (prepare.data, prepare.special) = (data, special);
        }
        prepare
    }
}

/// Returns the security of a whole modulus by a profile: 256, 192 or 128 bits. None below 128.
pub fn security_bits(profile: SecurityProfile, degree: usize, modulus_bits: f64) -> Option<u32> {
    // Bits are summed from logarithms; products of primes just below powers of two meet a limit exactly.
    const SLACK: f64 = 1e-6;
    let within = |level: &SecurityLevel| {
        let limit = largest_modulus_bits(profile, *level, degree);
        limit.is_some_and(|limit| modulus_bits <= f64::from(limit) + SLACK)
    };
    SecurityLevel::ALL.into_iter().rev().find(within).map(SecurityLevel::bits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::definition::{Definition, names};

    #[test]
    fn every_definition_has_primes_for_every_size_within_its_profile() {
        for name in names() {
            let definition = Definition::named(name).unwrap();
            for parameters in &definition.parameters {
                for (scheme, degree) in
                    definition.schemes.iter().flat_map(|s| definition.degrees.iter().map(move |n| (*s, *n)))
                {
                    if !parameters.covers(scheme, degree) || !scheme.has_ring() {
                        continue;
                    }
                    let chain = parameters.chain(scheme, degree).unwrap_or_else(|e| panic!("{name}: {e}"));
                    let spec = chain.spec.unwrap();
                    assert!(spec.data.iter().all(|prime| *prime > 1), "{name}: too few primes of a length");
                    let bits =
                        security_bits(parameters.profile.parse().unwrap(), degree, spec.modulus_bits());
                    assert!(
                        bits.unwrap_or(0) >= parameters.security_bits,
                        "{name} {} {degree}: {bits:?}",
                        scheme.name()
                    );
                    let asked = parameters.asked_bits(scheme, degree);
                    if let Some(asked) = asked {
                        let off = spec.data_bits() / f64::from(asked) - 1.0;
                        assert!(off.abs() <= 0.03, "{name} {} {degree}: {off}", scheme.name());
                    }
                }
            }
        }
    }

    #[test]
    fn an_engine_is_asked_for_many_special_primes_first_and_for_bits_after_primes() {
        let definition = Definition::named("operations").unwrap();
        let chain = definition.parameters[0].chain(Scheme::Bfv, 32768).unwrap();
        let requests = chain.requests(None);
        let shape: Vec<_> = requests.iter().map(|r| (r.special.len(), r.special_bits.len())).collect();
        let asked = [(4, 0), (1, 0), (0, 4), (0, 1)];
        assert_eq!(shape, [&asked[..], &asked[..], &[(0, 0), (0, 0)][..]].concat());
        assert!(requests[4..8].iter().all(|request| request.insecure));
        assert_eq!(requests[1].data, chain.spec.as_ref().unwrap().data);
        assert_eq!(requests[2].data_bits, [43; 16]);
        assert!(!requests[0].insecure && requests[0].scale_bits.is_none());
        let best = chain.requests(Some(2));
        let shape: Vec<_> = best.iter().take(5).map(|r| (r.special.len(), r.special_bits.len())).collect();
        assert_eq!(shape, [(2, 0), (0, 2), (2, 0), (0, 2), (4, 0)], "then what everybody is asked");
        assert_eq!(chain.with_special(9)[0].special.len(), 4);
        let chain = definition.parameters[0].chain(Scheme::Ckks, 4096).unwrap();
        assert_eq!(chain.requests(None)[0].scale_bits, Some(30));
        assert_eq!(chain.requests(None)[0].plain_modulus, None);
    }

    #[test]
    fn security_is_read_from_the_table() {
        let profile = SecurityProfile::Guidelines2024;
        assert_eq!(security_bits(profile, 4096, 106.0), Some(128));
        assert_eq!(security_bits(profile, 4096, 73.0), Some(192));
        assert_eq!(security_bits(profile, 4096, 20.0), Some(256));
        assert_eq!(security_bits(profile, 4096, 107.0), None);
        assert_eq!(security_bits(SecurityProfile::HeStandard2018, 4096, 107.0), Some(128));
    }
}

//! Primes for a scheme and a size, and the ways in which an engine is asked for them.

use sotto_lab::protocol::Prepare;
use sotto_rlwe::{
    ChainRequest, DefaultChain, Digits, ParameterSpec, SchemeId, SecurityLevel, SecurityProfile,
    SecurityTarget, largest_modulus_bits,
};

use super::{DataBits, Parameters, Scheme};
use crate::error::RunnerError;

/// The primes of one scheme at one size, and what else an engine needs to know.
#[derive(Clone, Debug)]
pub struct Chain {
    /// As our own library defines it: the data primes are everybody's.
    pub spec: ParameterSpec,
    /// t, for BFV and BGV.
    pub plain_modulus: Option<u64>,
    /// Whether 128 bits by the newer tables are not reached, so that a library that checks must be told.
    pub insecure: bool,
}

impl Parameters {
    /// The primes for a scheme and a size.
    pub fn chain(&self, scheme: Scheme, degree: usize) -> Result<Chain, RunnerError> {
        let id = match scheme {
            Scheme::Bfv => SchemeId::Bfv,
            Scheme::Bgv => SchemeId::Bgv,
            Scheme::Ckks => SchemeId::Ckks,
        };
        let asked = self.asked_bits(scheme, degree);
        let t = self.plain_modulus;
        let made = match asked {
            None => DefaultChain::spec(id, degree, t),
            Some(bits) => self.request(id, degree, bits),
        };
        let spec =
            made.map_err(|source| RunnerError::Parameters { scheme: scheme.name(), degree, source })?;
        let strict = SecurityProfile::default();
        let insecure = security_bits(strict, degree, spec.modulus_bits()).is_none();
        Ok(Chain { spec, plain_modulus: (scheme != Scheme::Ckks).then_some(t), insecure })
    }

    /// The bits that the definition wants the data modulus to have.
    fn asked_bits(&self, scheme: Scheme, degree: usize) -> Option<u32> {
        let is_for = |entry: &&DataBits| {
            entry.degree == degree && (entry.schemes.is_empty() || entry.schemes.contains(&scheme))
        };
        self.data_bits.iter().find(is_for).map(|entry| entry.bits)
    }

    fn request(
        &self,
        id: SchemeId,
        degree: usize,
        bits: u32,
    ) -> Result<ParameterSpec, sotto_rlwe::ParameterError> {
        let level = SecurityLevel::from_bits(self.security_bits).unwrap_or_default();
        ChainRequest {
            security: SecurityTarget::new(self.profile.parse()?, level),
            data_bits: Some(bits),
            special_primes: self.special_primes,
            digits: self.special_primes.map(Digits::Primes),
            ..ChainRequest::new(id, degree, self.plain_modulus)
        }
        .build()
    }
}

impl Chain {
    /// Requests, best first; an engine gets the first that it does not refuse. Many special primes make key switching
    /// fast, and not every library takes more than one; some take no primes at all, only their bits.
    pub fn requests(&self) -> Vec<Prepare> {
        let all = self.spec.special.len();
        let mut counts = vec![all, 1, 0];
        counts.retain(|count| *count <= all);
        counts.dedup();
        let exact = |special: usize| self.request(special, false);
        let bits = |special: usize| self.request(special, true);
        let (none, some): (Vec<usize>, Vec<usize>) = counts.into_iter().partition(|count| *count == 0);
        let mut requests: Vec<Prepare> = some.iter().map(|count| exact(*count)).collect();
        requests.extend(some.iter().map(|count| bits(*count)));
        // A library with a table of its own is asked without it, where ours says that the primes are secure: what it then
        // takes is judged by its primes.
        let unchecked = |request: &Prepare| Prepare { insecure: true, ..request.clone() };
        if !self.insecure {
            requests.extend(requests.iter().map(unchecked).collect::<Vec<_>>());
        }
        requests.extend(none.iter().flat_map(|count| [exact(*count), bits(*count)]));
        requests
    }

    fn request(&self, special: usize, in_bits: bool) -> Prepare {
        let (data, special) = (self.spec.data.clone(), self.spec.special[..special].to_vec());
        let scale = (self.spec.scheme == SchemeId::Ckks).then_some(self.spec.plain as u32);
        let mut prepare = Prepare {
            scheme: self.spec.scheme.name().to_owned(),
            degree: self.spec.degree,
            plain_modulus: self.plain_modulus,
            scale_bits: scale,
            rotations: vec![1],
            insecure: self.insecure,
            ..Prepare::default()
        };
        if in_bits {
            // The nearest length: of primes just above a power of two the exponent, or what is asked for would be twice as
            // large.
            let length = |prime: &u64| (*prime as f64).log2().round() as u32;
            prepare.data_bits = data.iter().map(length).collect();
            prepare.special_bits = special.iter().map(length).collect();
        } else {
            (prepare.data, prepare.special) = (data, special);
        }
        prepare
    }
}

/// The bits of security of a whole modulus by a profile: 256, 192 or 128; none below.
pub fn security_bits(profile: SecurityProfile, degree: usize, modulus_bits: f64) -> Option<u32> {
    // Lengths are summed from logarithms; a limit is met exactly by products of primes just below powers of two.
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
                    let chain = parameters.chain(scheme, degree).unwrap_or_else(|e| panic!("{name}: {e}"));
                    let bits =
                        security_bits(parameters.profile.parse().unwrap(), degree, chain.spec.modulus_bits());
                    assert!(
                        bits >= Some(parameters.security_bits),
                        "{name} {} {degree}: {bits:?}",
                        scheme.name()
                    );
                    let asked = parameters.asked_bits(scheme, degree);
                    if let Some(asked) = asked {
                        let off = chain.spec.data_bits() / f64::from(asked) - 1.0;
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
        let requests = chain.requests();
        let shape: Vec<_> = requests.iter().map(|r| (r.special.len(), r.special_bits.len())).collect();
        let asked = [(4, 0), (1, 0), (0, 4), (0, 1)];
        assert_eq!(shape, [&asked[..], &asked[..], &[(0, 0), (0, 0)][..]].concat());
        assert!(requests[4..8].iter().all(|request| request.insecure));
        assert_eq!(requests[1].data, chain.spec.data);
        assert_eq!(requests[2].data_bits, [43; 16]);
        assert!(!requests[0].insecure && requests[0].scale_bits.is_none());
        let chain = definition.parameters[0].chain(Scheme::Ckks, 4096).unwrap();
        assert_eq!(chain.requests()[0].scale_bits, Some(30));
        assert_eq!(chain.requests()[0].plain_modulus, None);
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

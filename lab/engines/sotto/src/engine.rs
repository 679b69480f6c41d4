//! The engine: one request line in, one reply line out.

use rand_core::Rng as _;
use sotto_harness::protocol::{
    Exchange, Exchanged, Failure, Measure, Measured, Prepare, Prepared, Request, Verified, Verify, Version,
};
use sotto_kernels::Target;
use sotto_ring::secure_rng;
use sotto_rlwe::with_scheme;

use crate::compare::{METHODS, compare};
use crate::conventional::Conventional;
use crate::emulation::{self, Emulated};
use crate::error::EngineError;
use crate::exchange::cloud;
use crate::measure::Measuring;
use crate::partial;
use crate::session::Session;
use crate::spoken::{Spoken, scheme_of};
use crate::windows::{self, Windows};

/// The engine with its last prepared parameters and keys.
#[derive(Default)]
pub struct Engine {
    prepared: Option<Box<dyn Conversation>>,
}

/// A session of any scheme. Only BFV, BGV and CKKS run programs and exchange ciphertexts.
trait Conversation {
    fn verify(&mut self, _: &Verify) -> Result<Verified, EngineError> {
        Err(EngineError::Unsupported)
    }
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError>;
    fn exchange(&mut self, _: &Exchange) -> Result<Exchanged, EngineError> {
        Err(EngineError::Unsupported)
    }
}

impl Conversation for Conventional {
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        Self::measure(self, request)
    }
}

impl Conversation for Box<dyn partial::Numbers> {
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        self.as_mut().measure(request)
    }
}

impl Conversation for Windows {
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        Self::measure(self, request)
    }
}

impl Conversation for Emulated {
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        Self::measure(self, request)
    }
}

impl<S: Spoken> Conversation for Measuring<S> {
    fn verify(&mut self, request: &Verify) -> Result<Verified, EngineError> {
        let lowered = self.session.plan(&request.program)?;
        self.session.run(&lowered, &request.program, &request.inputs)
    }
    fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        Self::measure(self, request)
    }
    fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, EngineError> {
        self.session.exchange(request)
    }
}

impl Engine {
    /// Returns the reply to a request line.
    pub fn answer(&mut self, line: &str) -> String {
        let reply = match serde_json::from_str::<Request>(line) {
            Ok(request) => self.carry_out(&request),
            Err(error) if error.to_string().starts_with("unknown variant") => Err(EngineError::Unsupported),
            Err(error) => Err(EngineError::Request(error.to_string())),
        };
        let failure = |error: EngineError| written(&Failure { error: error.to_string() });
        reply.unwrap_or_else(failure)
    }

    fn carry_out(&mut self, request: &Request) -> Result<String, EngineError> {
        match request {
            Request::Version => Ok(written(&version())),
            Request::Prepare(request) => self.prepare(request).map(|prepared| written(&prepared)),
            Request::Verify(request) => self.prepared()?.verify(request).map(|verified| written(&verified)),
            Request::Measure(request) => self.prepared()?.measure(request).map(|measured| written(&measured)),
            Request::Exchange(request) => self.exchange(request).map(|exchanged| written(&exchanged)),
            Request::Compare(request) => compare(request).map(|compared| written(&compared)),
        }
    }

    fn prepared(&mut self) -> Result<&mut Box<dyn Conversation>, EngineError> {
        let nothing = || EngineError::Request("nothing is prepared: send prepare first".to_owned());
        self.prepared.as_mut().ok_or_else(nothing)
    }

    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, EngineError> {
        if let Some(scheme) = scheme_of(&request.scheme) {
            return with_scheme!(scheme, S => self.hold::<S>(request));
        }
        match request.scheme.as_str() {
            windows::SCHEME => {
                self.prepared = Some(Box::new(Windows::prepare(request)?));
                Ok(Prepared::default())
            }
            scheme if partial::SCHEMES.contains(&scheme) => {
                let (numbers, prepared) = partial::prepare(request)?;
                self.prepared = Some(Box::new(numbers));
                Ok(prepared)
            }
            scheme if emulation::SCHEMES.contains(&scheme) => {
                let emulated = Emulated::prepare(request)?;
                let prepared = Prepared { log2_q: f64::from(emulated.bits()), ..Prepared::default() };
                self.prepared = Some(Box::new(emulated));
                Ok(prepared)
            }
            _ => {
                let conventional = Conventional::prepare(request)?;
                self.prepared = Some(Box::new(conventional));
                Ok(Prepared::default())
            }
        }
    }

    fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, EngineError> {
        let Some(parameters) = &request.parameters else { return self.prepared()?.exchange(request) };
        let scheme = scheme_of(&parameters.scheme).ok_or(EngineError::Unsupported)?;
        with_scheme!(scheme, S => cloud::<S>(parameters, request))
    }

    fn hold<S: Spoken>(&mut self, request: &Prepare) -> Result<Prepared, EngineError> {
        let mut seed = [0; 32];
        secure_rng()?.fill_bytes(&mut seed);
        let session = Session::<S>::prepare(request, seed)?;
        let primes = session.primes();
        self.prepared = Some(Box::new(Measuring::new(session)));
        Ok(primes)
    }
}

fn version() -> Version {
    Version {
        engine: "sotto".to_owned(),
        library: "sotto".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schemes: ["bfv", "bgv", "ckks", windows::SCHEME, "aes-256-gcm", "chacha20-poly1305", "clear"]
            .into_iter()
            .chain(partial::SCHEMES)
            .chain(emulation::SCHEMES)
            .map(str::to_owned)
            .collect(),
        comparisons: METHODS.map(str::to_owned).to_vec(),
        flags: format!("kernels: {}", Target::best().kernels.name),
        threads: 1,
    }
}

fn written<R: serde::Serialize>(reply: &R) -> String {
    serde_json::to_string(reply).unwrap_or_else(|error| format!(r#"{{"error":"{error}"}}"#))
}

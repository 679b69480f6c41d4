//! The known engines.

/// How an engine is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A Python program: a virtual environment with the packages of `requirements.txt`, then `engine.py`.
    Python {
        /// The required version of Python; None for any.
        version: Option<&'static str>,
        /// A program of the engine's own that builds a library without a registry package; runs after the packages are
        /// installed.
        build: Option<&'static str>,
    },
    /// A Go program: `go build`.
    Go,
    /// A Rust program with a lock file of its own: `cargo build --release`.
    Cargo {
        /// The toolchain that rustup starts; None for the default one.
        toolchain: Option<&'static str>,
    },
    /// A program of this workspace, which cargo has built beside the running one.
    Workspace,
}

/// An engine: its name, its recipe and its files, which are embedded in the program, so that installing it needs no
/// checkout.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The name of the engine and of its folder.
    pub name: &'static str,
    /// The library that the engine drives.
    pub library: &'static str,
    /// How the engine is installed.
    pub recipe: Recipe,
    /// How to install it, as a sentence for people.
    pub how: &'static str,
    /// Names and texts of its files.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

macro_rules! files {
    ($($folder:literal: $($name:literal),*);*) => {
        &[$($(($name, include_str!(concat!("../../engines/", $folder, "/", $name)))),*),*]
    };
}

/// Any version of Python; `how` names the versions that the packages support.
const PYTHON: Recipe = Recipe::Python { version: None, build: None };

/// Microsoft SEAL through the TenSEAL wheel: BFV and CKKS.
pub static SEAL: Engine = Engine {
    name: "seal",
    library: "Microsoft SEAL, in the TenSEAL wheel",
    recipe: PYTHON,
    how: "`sotto-lab install seal` does it, with Python 3.11 or later, venv and the package registry",
    files: files!("python": "conversation.py", "clock.py", "program.py", "tasks.py"; "seal": "engine.py", "session.py",
        "integers.py", "reals.py", "measured.py", "made.py", "requirements.txt"),
};

/// Lattigo: BGV, BFV and CKKS.
pub static LATTIGO: Engine = Engine {
    name: "lattigo",
    library: "Lattigo",
    recipe: Recipe::Go,
    how: "`sotto-lab install lattigo` does it, with Go 1.24 or later and the module registry",
    files: files!("lattigo": "main.go", "program.go", "keys.go", "integers.go", "reals.go", "measure.go",
        "operations.go", "making.go", "slots.go", "compare.go", "go.mod", "go.sum"),
};

/// The crate `fhe`: BFV.
pub static FHE_RS: Engine = Engine {
    name: "fhe-rs",
    library: "fhe.rs, the crate fhe",
    recipe: Recipe::Cargo { toolchain: None },
    how: "`sotto-lab install fhe-rs` does it, with cargo and the package registry",
    files: files!("fhe-rs": "Cargo.toml", "Cargo.lock", "src/main.rs", "src/session.rs", "src/operations.rs",
        "src/bytes.rs", "src/programs.rs", "src/timer.rs"),
};

/// The crate `tfhe`: comparisons only.
pub static TFHE_RS: Engine = Engine {
    name: "tfhe-rs",
    library: "TFHE-rs, the crate tfhe",
    recipe: Recipe::Cargo { toolchain: None },
    how: "`sotto-lab install tfhe-rs` does it in some minutes, with Rust 1.91 or later, cargo and the package registry",
    files: files!("tfhe-rs": "Cargo.toml", "Cargo.lock", "src/main.rs", "src/compare.rs"),
};

/// The crate `poulpy-ckks`: CKKS without primes.
pub static POULPY: Engine = Engine {
    name: "poulpy",
    library: "Poulpy, the crate poulpy-ckks",
    recipe: Recipe::Cargo { toolchain: Some("nightly") },
    how: "`sotto-lab install poulpy` does it in some minutes, with rustup, Rust's toolchain nightly and the package \
          registry",
    files: files!("poulpy": "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src/main.rs", "src/backend.rs",
        "src/parameters.rs", "src/session.rs", "src/maker.rs", "src/operations.rs", "src/keys.rs", "src/bytes.rs",
        "src/programs.rs", "src/timer.rs"),
};

/// OpenFHE's wheel, which is for one version of Python: BFV, BGV and CKKS.
pub static OPENFHE: Engine = Engine {
    name: "openfhe",
    library: "OpenFHE, its wheel",
    recipe: Recipe::Python { version: Some("3.10"), build: None },
    how: "`sotto-lab install openfhe` does it, with Python 3.10, venv and the package registry",
    files: files!("python": "conversation.py", "clock.py", "program.py", "tasks.py"; "openfhe": "engine.py", "session.py",
        "operations.py", "programs.py", "comparisons.py", "requirements.txt"),
};

/// TenSEAL's vectors: BFV and CKKS.
pub static TENSEAL: Engine = Engine {
    name: "tenseal",
    library: "TenSEAL, its vectors",
    recipe: PYTHON,
    how: "`sotto-lab install tenseal` does it, with Python 3.11 or later, venv and the package registry",
    files: files!("python": "conversation.py", "clock.py", "trip.py", "program.py", "windows.py"; "tenseal": "engine.py",
        "vectors.py", "requirements.txt"),
};

/// Pyfhel, built from its source: BFV, BGV and CKKS of SEAL.
pub static PYFHEL: Engine = Engine {
    name: "pyfhel",
    library: "Pyfhel, around SEAL",
    recipe: Recipe::Python { version: None, build: Some("build.py") },
    how: "`sotto-lab install pyfhel` does it in some minutes, with Python 3.11 or later, venv, a C++ compiler, cmake \
          and the package registry",
    files: files!("python": "conversation.py", "clock.py", "trip.py", "program.py"; "pyfhel": "engine.py", "session.py",
        "programs.py", "build.py", "requirements.txt"),
};

/// python-paillier, the reference among the partially homomorphic schemes.
pub static PYTHON_PAILLIER: Engine = Engine {
    name: "python-paillier",
    library: "python-paillier, the package phe",
    recipe: PYTHON,
    how: "`sotto-lab install python-paillier` does it, with Python 3, venv and the package registry",
    files: files!("python": "conversation.py", "clock.py", "windows.py"; "python-paillier": "engine.py", "requirements.txt"),
};

/// Our own engine: BFV, BGV and CKKS.
pub static SOTTO: Engine = Engine {
    name: "sotto",
    library: "sotto",
    recipe: Recipe::Workspace,
    how: "`cargo build --release --package sotto-engine` does it",
    files: &[],
};

/// All engines, ours first.
pub static ENGINES: [&Engine; 10] =
    [&SOTTO, &SEAL, &TENSEAL, &OPENFHE, &PYFHEL, &LATTIGO, &FHE_RS, &TFHE_RS, &POULPY, &PYTHON_PAILLIER];

impl Engine {
    /// Returns the engine of this name. None if there is none.
    pub fn named(name: &str) -> Option<&'static Self> {
        ENGINES.into_iter().find(|engine| engine.name == name)
    }
}

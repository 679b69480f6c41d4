//! The tools that suites need, and how to get them.

pub(crate) mod bochs;

use crate::cargo;
use std::process::{Command, Stdio};

/// A tool that a suite needs and a machine may lack.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// How to get it, as a sentence for people.
    pub(crate) get: &'static str,
    /// Returns the installed version. None if it is missing.
    probe: fn() -> Option<String>,
}

impl Tool {
    /// Returns the installed version. None if it is missing.
    pub(crate) fn version(&self) -> Option<String> {
        (self.probe)()
    }
}

pub(crate) static CARGO: Tool = Tool {
    name: "cargo 1.95 or later",
    get: "install Rust with rustup (rustup.rs), then `rustup update stable`",
    probe: || at_least(&first_line(cargo::cargo().arg("--version"))?, (1, 95)),
};

pub(crate) static RUSTFMT: Tool = Tool {
    name: "rustfmt",
    get: "`rustup component add rustfmt`",
    probe: || first_line(cargo::cargo().args(["fmt", "--version"])),
};

pub(crate) static CLIPPY: Tool = Tool {
    name: "clippy",
    get: "`rustup component add clippy`",
    probe: || first_line(cargo::cargo().args(["clippy", "--version"])),
};

pub(crate) static C_COMPILER: Tool = Tool {
    name: "a C compiler",
    get: "install gcc or clang (`apt-get install gcc libc6-dev`, `xcode-select --install`), or name one in CC",
    probe: || {
        first_line(Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into())).arg("--version"))
    },
};

/// The compiler of libFuzzer.
pub(crate) static CPP_COMPILER: Tool = Tool {
    name: "a C++ compiler",
    get: "install g++ or clang++ (`apt-get install g++`), or name one in CXX",
    probe: || {
        first_line(Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into())).arg("--version"))
    },
};

pub(crate) static PYTHON: Tool = Tool {
    name: "python3 3.9 or later",
    get: "install Python (`apt-get install python3`, or python.org); no packages are needed",
    probe: || at_least(&first_line(Command::new("python3").arg("--version"))?, (3, 9)),
};

/// The Python of the SEAL engine, whose wheel needs 3.11 or later.
pub(crate) static PYTHON_VENV: Tool = Tool {
    name: "python3 3.11 or later with venv and pip",
    get: "install Python (`apt-get install python3 python3-venv`, or python.org)",
    probe: || {
        first_line(Command::new("python3").args(["-c", "import venv, ensurepip; print('found')"]))?;
        at_least(&first_line(Command::new("python3").arg("--version"))?, (3, 11))
    },
};

/// The client of the gateway's guides.
pub(crate) static CURL: Tool = Tool {
    name: "curl",
    get: "install curl (`apt-get install curl`)",
    probe: || first_line(Command::new("curl").arg("--version")),
};

/// The broker of the gateway's tests and of a guide, and its client. Debian puts the broker where users do not look.
pub(crate) static MOSQUITTO: Tool = Tool {
    name: "mosquitto with mosquitto_pub",
    get: "`apt-get install mosquitto mosquitto-clients`",
    probe: || {
        Command::new("mosquitto_pub").arg("--help").output().ok()?;
        // Asked for help, it ends with 3.
        let help = |place| Command::new(place).arg("-h").stdin(Stdio::null()).output().ok();
        let found = ["mosquitto", "/usr/sbin/mosquitto"].into_iter().find_map(help)?;
        String::from_utf8_lossy(&found.stdout).lines().next().map(str::to_owned)
    },
};

/// The compiler of the Lattigo engine.
pub(crate) static GO: Tool = Tool {
    name: "go 1.24 or later",
    get: "install Go (go.dev/dl)",
    probe: || {
        let line = first_line(Command::new("go").arg("version"))?;
        at_least(&line.replace("go version go", "go "), (1, 24))
    },
};

/// The machine of Spark.
pub(crate) static JAVA: Tool = Tool {
    name: "Java 17 or later",
    get: "install openjdk-17-jre-headless (Debian), or a JDK (adoptium.net)",
    probe: || {
        let said = Command::new("java").arg("-version").output().ok()?;
        let text = String::from_utf8_lossy(&said.stderr).lines().next()?.replace('"', "");
        at_least(&text.replace("openjdk version", "java").replace("java version", "java"), (17, 0))
    },
};

pub(crate) static NIGHTLY: Tool = Tool {
    name: "nightly Rust",
    get: "`rustup toolchain install nightly --profile minimal`",
    probe: || first_line(Command::new("rustup").args(["run", "nightly", "cargo", "--version"])),
};

pub(crate) static MIRI: Tool = Tool {
    name: "miri",
    get: "`rustup toolchain install nightly --profile minimal --component miri,rust-src`",
    probe: || first_line(Command::new("rustup").args(["run", "nightly", "cargo", "miri", "--version"])),
};

pub(crate) static AARCH64_STD: Tool = Tool {
    name: "the standard library for 64-bit ARM",
    get: "`rustup target add aarch64-unknown-linux-gnu`",
    probe: || library_folder("aarch64-unknown-linux-gnu"),
};

pub(crate) static AARCH64_MUSL: Tool = Tool {
    name: "the static standard library for 64-bit ARM",
    get: "`rustup target add aarch64-unknown-linux-musl`",
    probe: || library_folder("aarch64-unknown-linux-musl"),
};

/// The browser for the lab's report and the owner's page.
pub(crate) static CHROMIUM: Tool = Tool {
    name: "chromium",
    get: "`apt-get install chromium`",
    probe: || first_line(Command::new("chromium").arg("--version")),
};

/// Builds the owner's page, and drives the browser in it.
pub(crate) static NODE: Tool = Tool {
    name: "node 20 or later with npm",
    get: "install Node.js (`apt-get install nodejs npm`, or nodejs.org)",
    probe: || {
        first_line(cargo::command("npm").arg("--version"))?;
        let line = first_line(Command::new("node").arg("--version"))?;
        at_least(&line.replace('v', "node "), (20, 0))
    },
};

pub(crate) static AARCH64_CC: Tool = Tool {
    name: "a C compiler for 64-bit ARM",
    get: "`apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross`",
    probe: || first_line(Command::new("aarch64-linux-gnu-gcc").arg("--version")),
};

pub(crate) static QEMU_AARCH64: Tool = Tool {
    name: "qemu-aarch64",
    get: "`apt-get install qemu-user`",
    probe: || first_line(Command::new("qemu-aarch64").arg("--version")),
};

pub(crate) static AVX512: Tool = Tool {
    name: "AVX-512 with IFMA, VBMI and VAES, or Bochs 3.0 or later and a Linux to boot in it",
    get: "`apt-get install --no-install-recommends bochs bochs-term busybox-static isolinux syslinux-common xorriso \
          linux-image-cloud-amd64` (Debian 13), or name a kernel in SOTTO_LINUX",
    probe: bochs::processor,
};

pub(crate) static QEMU_SYSTEM: Tool = Tool {
    name: "qemu-system-arm and qemu-system-riscv32",
    get: "`apt-get install --no-install-recommends qemu-system-arm qemu-system-misc`",
    probe: || {
        first_line(Command::new("qemu-system-arm").arg("--version"))?;
        first_line(Command::new("qemu-system-riscv32").arg("--version"))
    },
};

pub(crate) static SMALL_CORES: Tool = Tool {
    name: "the core library for small cores",
    get: "`rustup target add thumbv6m-none-eabi thumbv7em-none-eabi riscv32imc-unknown-none-elf`",
    probe: || {
        let targets = ["thumbv6m-none-eabi", "thumbv7em-none-eabi", "riscv32imc-unknown-none-elf"];
        let mut folders = targets.map(library_folder).into_iter();
        folders.all(|folder| folder.is_some()).then(|| targets.join(", "))
    },
};

/// Targets of the suite `no-std`: a small core with floating point, and WebAssembly.
pub(crate) const NO_STD_TARGETS: [&str; 2] = ["thumbv7em-none-eabihf", "wasm32-unknown-unknown"];

pub(crate) static NO_STD: Tool = Tool {
    name: "the core libraries for the suite no-std",
    get: "`rustup target add thumbv7em-none-eabihf wasm32-unknown-unknown`",
    probe: || {
        let mut folders = NO_STD_TARGETS.map(library_folder).into_iter();
        folders.all(|folder| folder.is_some()).then(|| NO_STD_TARGETS.join(", "))
    },
};

/// Returns the folder of a target's libraries. None if it is not installed.
fn library_folder(target: &str) -> Option<String> {
    let mut rustc = Command::new("rustc");
    let folder = first_line(rustc.args(["--print", "target-libdir", "--target", target]))?;
    std::path::Path::new(&folder).is_dir().then_some(folder)
}

/// Returns the first line of a command's output. None if the command does not start or fails.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    output.status.success().then_some(line)
}

/// Returns the line, if its second word is a version of at least `wanted`.
fn at_least(line: &str, wanted: (u32, u32)) -> Option<String> {
    let mut parts = line.split_whitespace().nth(1)?.split('.');
    let mut part = || parts.next()?.parse::<u32>().ok();
    ((part()?, part()?) >= wanted).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(at_least("Python 3.11.7", (3, 9)).is_some());
        assert!(at_least("Python 3.8.18", (3, 9)).is_none());
        assert!(at_least("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", (1, 95)).is_some());
        assert!(at_least("cargo 1.94.1", (1, 95)).is_none());
        assert!(at_least("nonsense", (0, 0)).is_none());
    }
}

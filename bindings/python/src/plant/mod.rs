//! Plants: an owner's folder, and its work with the cloud. The Python part makes data frames of the answers.

mod answer;
mod raise;
mod watch;

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use sotto_owner::OwnerError;

use raise::raised;
use watch::Watch;

/// An owner's folder. Its settings are read again for each call, so that later declarations count; the key that its
/// passphrase opens stays open.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Plant {
    folder: PathBuf,
    plant: sotto_owner::Plant,
}

#[pymethods]
impl Plant {
    /// Opens a folder; without one, the working directory, the nearest plant above it, or the only one in it. The file
    /// holds the plant's passphrase.
    #[new]
    #[pyo3(signature = (folder=None, passphrase_file=None))]
    fn new(py: Python<'_>, folder: Option<PathBuf>, passphrase_file: Option<PathBuf>) -> PyResult<Self> {
        let found = py.detach(|| match folder {
            Some(folder) => sotto_owner::Plant::open(&folder),
            None => sotto_owner::Plant::find(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))),
        });
        let found = found.map_err(|error| raised(py, &error))?;
        // Absolute, so that both files are the same after a change of the working directory.
        let folder = std::path::absolute(found.folder())?;
        let file = passphrase_file.map(std::path::absolute).transpose()?;
        let plant = sotto_owner::Plant::open(&folder).map_err(|error| raised(py, &error))?;
        let plant =
            plant.unlocking(file.map_or_else(sotto_owner::Unlock::default, sotto_owner::Unlock::by_file));
        Ok(Self { folder, plant })
    }

    /// The folder with `sotto.toml`, absolute.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The cloud's address.
    #[getter]
    fn url(&self, py: Python<'_>) -> PyResult<String> {
        self.work(py, Watch::default(), |plant, _| Ok(plant.settings().cloud.url.clone()))
    }

    /// Asks a question. Returns columns and facts of the answer.
    #[pyo3(signature = (question, since=None, until=None, keep=true, progress=None, stop=None, verify=false, unchecked=false, fetch=None, cache=true))]
    #[allow(clippy::too_many_arguments)]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        question: &str,
        since: Option<&str>,
        until: Option<&str>,
        keep: bool,
        progress: Option<Py<PyAny>>,
        stop: Option<Py<PyAny>>,
        verify: bool,
        unchecked: bool,
        fetch: Option<u64>,
        cache: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (answer, name) = self.work(py, Watch::new(progress, stop), |plant, watch| {
            let plant = plant.fetching_at_most(fetch.unwrap_or(sotto_owner::FETCHED));
            let plant = &if cache { plant } else { plant.without_cache() };
            let question = plant.question_between(question, since, until)?;
            let answer = plant.ask(&question, &mut |done, total| watch.tell(done, total))?;
            watch.proceed("the answer")?;
            let answer = if verify {
                plant.verify_asked(answer, &mut |done, total| watch.tell(done, total))?
            } else {
                answer
            };
            let answer = if unchecked { answer.with_unchecked() } else { answer };
            let name = if keep { plant.keep(&answer)? } else { None };
            Ok((answer, name))
        })?;
        answer::columns(py, &answer.checked(), name)
    }

    /// Returns a report of the plant as JSON.
    #[pyo3(signature = (name, argument=None))]
    fn report(&self, py: Python<'_>, name: &str, argument: Option<&str>) -> PyResult<String> {
        self.work(py, Watch::default(), |plant, _| plant.report(name, argument))
    }

    /// Repeats the work behind a kept answer (None: the latest) and returns the outcome as JSON.
    #[pyo3(signature = (answer=None, sample=1.0, save=None, progress=None, stop=None))]
    fn verify(
        &self,
        py: Python<'_>,
        answer: Option<String>,
        sample: f64,
        save: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
        stop: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        self.work(py, Watch::new(progress, stop), |plant, watch| {
            let name = answer.map_or_else(|| plant.latest_answer(), Ok)?;
            let tell = &mut |done, total| watch.tell(done, total);
            let done = plant.verify(&name, sample, save.as_deref(), tell)?;
            watch.proceed("the evidence")?;
            json(&done)
        })
    }

    /// Returns the names of the kept answers, oldest first.
    fn answers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.work(py, Watch::default(), |plant, _| plant.answers())
    }

    /// Returns a kept answer as `ask` does.
    fn answer<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyDict>> {
        let kept = self.work(py, Watch::default(), |plant, _| plant.answer(&name))?;
        answer::columns(py, &kept.answer, Some(name))
    }

    fn __repr__(&self) -> String {
        format!("Plant({:?})", self.folder)
    }
}

impl Plant {
    /// Opens the folder and works on it without the interpreter's lock. Signals, `stop` and exceptions of `progress`
    /// end the work before its next request.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        watch: Watch,
        work: impl FnOnce(sotto_owner::Plant, &Watch) -> Result<T, OwnerError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let plant = self.plant.reopened()?.interrupted_by(watch.interrupt());
            work(plant, &watch)
        });
        match done {
            Ok(done) => Ok(done),
            Err(error) => Err(watch.exception(py).unwrap_or_else(|| raised(py, &error))),
        }
    }
}

fn json(document: &impl Serialize) -> Result<String, OwnerError> {
    serde_json::to_string(document).map_err(|error| OwnerError::WrongAnswer(error.to_string()))
}

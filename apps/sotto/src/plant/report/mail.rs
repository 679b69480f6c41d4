//! A report as a message: text for every reader, and the page as a file.

use std::time::Duration;

use lettre::Message;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, MultiPart, SinglePart};
use sotto_http::Trust;
use sotto_owner::Plant;
use sotto_owner::alarm::MailSettings;

use super::Answered;
use super::file::File;
use crate::plant::{show, watch};

/// Time for each answer of the server.
const LIMIT: Duration = Duration::from_secs(60);
/// Most addresses of a report.
const MOST_ADDRESSES: usize = 20;

/// The people to whom a report goes, and the server.
pub(super) struct Post {
    settings: MailSettings,
    trust: Trust,
    to: Vec<String>,
}

impl Post {
    /// Checks addresses and server before anything is asked.
    pub(super) fn new(plant: &Plant, to: &str) -> anyhow::Result<Self> {
        let settings = plant.settings().mail.clone().ok_or_else(|| {
            anyhow::anyhow!(
                "no server takes messages yet: sotto alarm mail --server smtps://user@host --from ADDRESS"
            )
        })?;
        let to: Vec<String> = to.split(',').map(|one| one.trim().to_owned()).collect();
        anyhow::ensure!(to.len() <= MOST_ADDRESSES, "a report goes to at most {MOST_ADDRESSES} addresses");
        for one in to.iter().chain([&settings.from]) {
            watch::mailbox(one).map_err(anyhow::Error::msg)?;
        }
        let trust = watch::trust(plant.folder(), settings.ca.as_ref()).map_err(anyhow::Error::msg)?;
        Ok(Self { settings, trust, to })
    }

    pub(super) fn addresses(&self) -> String {
        self.to.join(", ")
    }

    /// Sends a report to each address.
    ///
    /// # Errors
    /// The addresses that were refused, or the reason why the server takes nothing.
    pub(super) fn send(&self, title: &str, text: &str, page: String) -> anyhow::Result<()> {
        let to: Vec<&str> = self.to.iter().map(String::as_str).collect();
        let message = message(&self.settings.from, &to, title, text, page).map_err(anyhow::Error::msg)?;
        let refused = std::cell::RefCell::new(Vec::new());
        let note = |address: &str, reason: Option<&str>| {
            refused.borrow_mut().extend(reason.map(|reason| format!("{address}: {reason}")));
            Ok(())
        };
        watch::send_message(&self.settings, &self.trust, &to, &message, LIMIT, &note)
            .map_err(|error| anyhow::anyhow!("the report was not sent: {error}"))?;
        let refused = refused.into_inner();
        anyhow::ensure!(refused.is_empty(), "the report was not sent to all: {}", refused.join("; "));
        Ok(())
    }
}

fn message(from: &str, to: &[&str], title: &str, text: &str, page: String) -> Result<Message, String> {
    let mut builder =
        Message::builder().from(watch::mailbox(from)?).subject(title).header(watch::AutoSubmitted);
    for one in to {
        builder = builder.to(watch::mailbox(one)?);
    }
    let page = Attachment::new("report.html".to_owned()).body(page, ContentType::TEXT_HTML);
    let parts = MultiPart::mixed().singlepart(SinglePart::plain(text.to_owned())).singlepart(page);
    builder.multipart(parts).map_err(|error| error.to_string())
}

/// Returns a report as text.
pub(super) fn text(file: &File, sections: &[Answered<'_>]) -> String {
    let mut parts = vec![file.title.clone(), file.text.clone()];
    for section in sections {
        parts.push(section.heading.to_owned());
        parts.push(section.text.to_owned());
        parts.push(match &section.answer {
            None => String::new(),
            Some((question, Err(reason))) => format!("{question}\nno answer: {reason}"),
            Some((_, Ok(answer))) => {
                let remarks = answer.remarks().join("\n");
                format!("{}\n{}\n{remarks}", answer.question, show::answer_text(answer)).trim().to_owned()
            }
        });
    }
    parts.retain(|part| !part.is_empty());
    let mut text = parts.join("\n\n");
    text.retain(|c| !sotto_cloud_client::is_direction(c));
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plant::report::Shown;
    use crate::plant::show::fixture::{answer, hourly};

    #[test]
    fn a_message_has_the_text_and_the_page() {
        let answer = answer(hourly("mean(t)", &[Some(1.5)]));
        let file = File { title: "Barn\r\nBcc: eve@h".to_owned(), text: String::new(), sections: Vec::new() };
        let section = |answer| Answered { heading: "Heat", text: "", shown: Shown::Chart, answer };
        let sections =
            [section(Some(("q", Ok(&answer)))), section(Some(("bad", Err("no device".to_owned()))))];
        let text = text(&file, &sections);
        assert!(text.contains("mean(t) by hour") && text.contains("no answer: no device"), "{text}");
        let to = ["ann@farm.example"];
        let message =
            message("barn@farm.example", &to, &file.title, &text, "<p>ü".to_owned()).expect("a message");
        let sent = String::from_utf8(message.formatted()).expect("text");
        let (head, _) = sent.split_once("\r\n\r\n").expect("a body");
        assert!(!head.contains("\r\nBcc"), "{head}");
        assert!(sent.contains("report.html") && sent.contains("text/html"), "{sent}");
    }
}

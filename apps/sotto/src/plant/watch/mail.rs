//! E-mail as a sink of events: a message to each person of the alarm, by the plant's server.

use std::error::Error;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport as _};
use sotto_http::Trust;
use sotto_owner::alarm::{Event, MailServer, MailSettings, MailTls};

/// RFC 3834, section 5: no vacation answers, please.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Sends an event to each address. The message's id is made from the event's: a mailbox shows a second copy as the same.
///
/// # Errors
/// The reason, if the server is away, refuses, or does not answer a command within `limit`.
pub(super) fn send(
    settings: &MailSettings,
    trust: &Trust,
    to: &[&str],
    event: &Event,
    limit: Duration,
) -> Result<(), String> {
    let server: MailServer = settings.server.parse().map_err(|error| format!("{error}"))?;
    let message = message(&settings.from, to, event)?;
    let tls = match server.tls {
        MailTls::None => Tls::None,
        MailTls::StartTls => Tls::Required(parameters(&server, trust)?),
        MailTls::FromTheStart => Tls::Wrapper(parameters(&server, trust)?),
    };
    let mut transport =
        SmtpTransport::builder_dangerous(&server.host).port(server.port).tls(tls).timeout(Some(limit));
    if let (Some(user), Some(password)) = (server.user, server.password) {
        transport = transport.credentials(Credentials::new(user, password));
    }
    let sent = transport.build().send(&message);
    sent.map(drop).map_err(|error| format!("{}:{}: {}", server.host, server.port, in_words(&error)))
}

fn message(from: &str, to: &[&str], event: &Event) -> Result<Message, String> {
    let address = |text: &str| {
        text.parse::<Mailbox>().map_err(|error| format!("{text:?} is no address of a person: {error}"))
    };
    let mut builder = Message::builder()
        .from(address(from)?)
        .subject(event.text())
        .message_id(Some(id(event, from)))
        .header(AutoSubmitted);
    for one in to {
        builder = builder.to(address(one)?);
    }
    builder.body(body(event)).map_err(|error| error.to_string())
}

/// Returns the message's id: letters, digits and a few marks (RFC 5322, section 3.6.4).
fn id(event: &Event, from: &str) -> String {
    let mut text = String::from("<");
    for byte in event.id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => text.push(char::from(byte)),
            other => text.push_str(&format!("_{other:02x}")),
        }
    }
    let host = from.rsplit_once('@').map_or("localhost", |(_, host)| host);
    format!("{text}@{host}>")
}

fn body(event: &Event) -> String {
    let unit = if event.unit.is_empty() { String::new() } else { format!(" {}", event.unit) };
    let mut lines = vec![event.text(), String::new(), format!("condition: {}", event.when)];
    if let Some(value) = event.value {
        let bound = event.bound.filter(|bound| *bound > 0.0).map(|bound| format!(" ± {bound}"));
        lines.push(format!("value: {value}{}{unit}", bound.unwrap_or_default()));
    }
    lines.push(format!("from {} to {}, {} readings", event.from, event.to, event.readings));
    lines.push(format!("evaluated at {}", event.at));
    lines.push(format!("event {}", event.id));
    lines.push(format!("`sotto alarm show {}` tells how it stands.", event.alarm));
    lines.join("\n") + "\n"
}

fn parameters(server: &MailServer, trust: &Trust) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(server.host.clone());
    builder = match trust.authorities() {
        None => builder.certificate_store(CertificateStore::WebpkiRoots),
        Some(authorities) => {
            builder = builder.certificate_store(CertificateStore::None);
            for der in authorities {
                let authority = Certificate::from_der(der.clone()).map_err(|error| in_words(&error))?;
                builder = builder.add_root_certificate(authority);
            }
            builder
        }
    };
    builder.build_rustls().map_err(|error| in_words(&error))
}

/// Returns an error with its causes, and with a remedy if TLS is the cause.
fn in_words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        let tls = inner.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        match tls.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(_)) => {
                text += "; a private authority is named with `sotto alarm mail … --ca FILE`";
            }
            Some(rustls::Error::InvalidMessage(_)) => {
                text += "; it does not begin in TLS: write smtp:// for a server with STARTTLS";
            }
            _ => {}
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::event;
    use super::*;

    #[test]
    fn a_message_has_one_subject_line_and_the_same_id_at_every_attempt() {
        let mut event = event();
        event.what = "12 of 60 readings > 80 °C\r\nBcc: eve@h".to_owned();
        event.alarm = "heiß".to_owned();
        event.id = "heiß.boiler".to_owned();
        let message =
            message("barn@farm.example", &["ann@farm.example", "bo@h.example"], &event).expect("a message");
        let text = String::from_utf8(message.formatted()).expect("text");
        let (head, _) = text.split_once("\r\n\r\n").expect("a body");
        assert!(!head.contains("\r\nBcc"), "{head}");
        assert!(head.contains("To: ann@farm.example, bo@h.example"), "{head}");
        assert!(head.contains("Message-ID: <hei_c3_9f.boiler@farm.example>"), "{head}");
        assert!(head.contains("Auto-Submitted: auto-generated"), "{head}");
        let to: Vec<String> = message.envelope().to().iter().map(ToString::to_string).collect();
        assert_eq!(to, ["ann@farm.example", "bo@h.example"]);
    }
}

package import WebSocketProtocol

/// What a message to be sent is made of: `{ text: … }`, or `{ base64: … }` for a binary one.
package struct MessageTemplate: Equatable, Sendable {
    package let kind: Message.Kind
    /// For a binary message it makes the base64 of the payload.
    package let template: Template

    /// A text message.
    package init(text: String) throws(MalformedValue) {
        kind = .text
        template = try Template(text)
    }

    /// A binary message; what is filled in must give base64 as well, with all around it.
    package init(base64: String) throws(MalformedValue) {
        kind = .binary
        template = try Template(base64)
        if let constant = template.constant, Base64.decode(constant) == nil {
            throw MalformedValue("base64 with its padding, in which templates may stand")
        }
    }

    /// The message as it is now; nil if what was filled in makes it too long, or no base64.
    package func message(
        with values: TemplateValues,
        random: inout some RandomNumberGenerator
    ) -> Message? {
        guard let bytes = template.expanded(with: values, random: &random) else { return nil }
        switch kind {
        case .text: return Message(.text, bytes)
        case .binary: return Base64.decode(bytes).map { Message(.binary, $0) }
        }
    }
}

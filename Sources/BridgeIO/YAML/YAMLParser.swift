internal import BridgeCore
internal import CYAML

/// libyaml's event parser over bytes that must outlive it.
@safe nonisolated struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// - Throws: when there is no memory for it.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ConfigurationFault) {
        unsafe parser = .allocate(capacity: 1)
        unsafe parser.initialize(to: yaml_parser_t())
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            throw ConfigurationFault(line: 1, "there is no memory to read it")
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
    }

    /// The next event that says something, with its place; nil at the end.
    func next() throws(ConfigurationFault) -> (ConfigurationTreeBuilder.Event, ConfigurationNode.Position)? {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault }
            defer { unsafe yaml_event_delete(&event) }
            let position = unsafe ConfigurationNode.Position(event.start_mark)
            guard unsafe event.type != YAML_STREAM_END_EVENT else { return nil }
            if let meaning = try unsafe meaning(of: event, at: position) { return (meaning, position) }
        }
    }

    /// Where the next text in double quotes stands, in characters, with a tag or anchor before it; nil at the end.
    func nextDoubleQuoted() throws(ConfigurationFault) -> Range<Int>? {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault }
            defer { unsafe yaml_event_delete(&event) }
            guard unsafe event.type != YAML_STREAM_END_EVENT else { return nil }
            guard unsafe event.type == YAML_SCALAR_EVENT,
                unsafe event.data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE
            else { continue }
            return unsafe Int(clamping: event.start_mark.index)..<Int(clamping: event.end_mark.index)
        }
    }

    private func meaning(
        of event: yaml_event_t,
        at position: ConfigurationNode.Position
    ) throws(ConfigurationFault) -> ConfigurationTreeBuilder.Event? {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT:
            return .documentStart
        case YAML_ALIAS_EVENT:
            return .alias(unsafe YAMLParser.text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            return try unsafe scalar(event.data.scalar, at: position)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            try YAMLParser.refuseTag(unsafe YAMLParser.text(start.tag), unless: "seq", at: position)
            return .sequenceStart(anchor: unsafe YAMLParser.text(start.anchor))
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            try YAMLParser.refuseTag(unsafe YAMLParser.text(start.tag), unless: "map", at: position)
            return .mappingStart(anchor: unsafe YAMLParser.text(start.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            return .end
        default:  // The begin of the stream, and the end of its document.
            return nil
        }
    }

    private func scalar(
        _ scalar: yaml_event_s.__Unnamed_union_data.__Unnamed_struct_scalar,
        at position: ConfigurationNode.Position
    ) throws(ConfigurationFault) -> ConfigurationTreeBuilder.Event {
        let tag = unsafe YAMLParser.text(scalar.tag)
        // A tag that makes it a text is as good as quotes.
        try YAMLParser.refuseTag(tag, unless: "str", at: position)
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE && tag == nil
        return .scalar(
            unsafe String(decoding: bytes, as: UTF8.self),
            isPlain ? .plain : .quoted,
            anchor: unsafe YAMLParser.text(scalar.anchor)
        )
    }

    /// What a value is follows from its key; a tag could only contradict that.
    private static func refuseTag(
        _ tag: String?,
        unless name: String,
        at position: ConfigurationNode.Position
    ) throws(ConfigurationFault) {
        guard let tag, tag != "!", tag != "tag:yaml.org,2002:" + name else { return }
        throw ConfigurationFault(line: position.line, "tags such as !name have no meaning here")
    }

    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe String(cString: pointer)
    }

    /// Why the parser stopped.
    private var fault: ConfigurationFault {
        let state = unsafe parser.pointee
        var text = "not valid YAML"
        if let problem = unsafe state.problem { unsafe text += ": " + String(cString: problem) }
        if let context = unsafe state.context { unsafe text += " " + String(cString: context) }
        return ConfigurationFault(line: unsafe ConfigurationNode.Position(state.problem_mark).line, text)
    }
}

extension ConfigurationNode.Position {
    fileprivate nonisolated init(_ mark: yaml_mark_t) {
        self.init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
    }
}

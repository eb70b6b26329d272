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

    /// An event that says something.
    struct Finding {
        var event: ConfigurationTreeBuilder.Event
        var position: ConfigurationNode.Position
        /// It has a tag, which could only contradict what follows from its key.
        var isTagged: Bool
    }

    /// The next event that says something; nil at the end.
    func next() throws(ConfigurationFault) -> Finding? {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault }
            defer { unsafe yaml_event_delete(&event) }
            let position = unsafe ConfigurationNode.Position(event.start_mark)
            guard unsafe event.type != YAML_STREAM_END_EVENT else { return nil }
            guard let (event, isTagged) = unsafe meaning(of: event) else { continue }
            return Finding(event: event, position: position, isTagged: isTagged)
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

    private typealias Meaning = (event: ConfigurationTreeBuilder.Event, isTagged: Bool)

    private func meaning(of event: yaml_event_t) -> Meaning? {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT:
            return (.documentStart, false)
        case YAML_ALIAS_EVENT:
            return (.alias(unsafe YAMLParser.text(event.data.alias.anchor) ?? ""), false)
        case YAML_SCALAR_EVENT:
            return unsafe scalar(event.data.scalar)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            let isTagged = YAMLParser.isTag(unsafe YAMLParser.text(start.tag), otherThan: "seq")
            return (.sequenceStart(anchor: unsafe YAMLParser.text(start.anchor)), isTagged)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            let isTagged = YAMLParser.isTag(unsafe YAMLParser.text(start.tag), otherThan: "map")
            return (.mappingStart(anchor: unsafe YAMLParser.text(start.anchor)), isTagged)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            return (.end, false)
        default:  // The begin of the stream, and the end of its document.
            return nil
        }
    }

    private func scalar(_ scalar: yaml_event_s.__Unnamed_union_data.__Unnamed_struct_scalar) -> Meaning {
        let tag = unsafe YAMLParser.text(scalar.tag)
        let isTagged = YAMLParser.isTag(tag, otherThan: "str")
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        // A tag that makes it a text is as good as quotes.
        let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE && (tag == nil || isTagged)
        let event = ConfigurationTreeBuilder.Event.scalar(
            unsafe String(decoding: bytes, as: UTF8.self),
            isPlain ? .plain : .quoted,
            anchor: unsafe YAMLParser.text(scalar.anchor)
        )
        return (event, isTagged)
    }

    private static func isTag(_ tag: String?, otherThan name: String) -> Bool {
        guard let tag else { return false }
        return tag != "!" && tag != "tag:yaml.org,2002:" + name
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

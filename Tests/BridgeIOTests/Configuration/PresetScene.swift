import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

/// A preset of a chat that needs a token, and connections that begin with it.
struct PresetScene {
    static let chat = #"""
        parameters:
          token: { variable: CHAT_TOKEN, description: What opens the chat }
          room: { variable: CHAT_ROOM, default: lobby }
        url: wss://chat.example/feed
        headers: { Authorization: "Bearer ${parameter:token}", X-A: a }
        heartbeat: { interval: 5s, missLimit: 1, send: { text: ping }, expect: { json: { /op: 1 } } }
        reconnect: { stopOnCloseCodes: [4000, 4001] }
        onOpen:
          - send: { text: '{"room":"${parameter:room}","token":"${parameter:token}"}' }
        rules:
          - { when: { any: true }, topic: chat }
        """#

    var scene = ConfigurationScene(files: ["conf/presets/chat.yaml": chat], environment: ["T": "s3cret"])

    func file(_ members: String) -> String { "connections: { a: { \(members) } }" }

    func connection(_ members: String, _ scene: ConfigurationScene? = nil) throws -> ConnectionConfiguration {
        try #require(try (scene ?? self.scene).configuration(file(members)).connections["a"])
    }

    func sent(_ connection: ConnectionConfiguration) -> String {
        guard case .send(let message) = connection.settings.onOpen.first?.deed else { return "" }
        return message.template.source
    }
}

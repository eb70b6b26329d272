// The worker that all tabs of this page in a browser share. It has the streams, they have the rows.

import { Hub } from "./hub.js";

const hub = new Hub();
self.onconnect = ({ ports: [port] }) => hub.attach(port);

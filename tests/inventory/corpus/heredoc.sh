#!/bin/sh
runmqsc QM1 <<EOF
DEFINE SUB(S1) TOPICSTR('/a') DEST(Q1) SELECTOR('a = 1')
END
EOF

#!/bin/ksh
$TIBCO_HOME/ems/bin/tibemsadmin -server "$1" -user admin <<EOF
delete bridge source=topic:A target=queue:B
Y
create bridge source=topic:A target=queue:B selector="system in ('ALL') and action in ('Send product','Notify')"
commit
EOF
